-- What the filters of all formats do alike: they load it with dofile.

local parts = { folders = {} }

-- The name of a table or figure: its Div is called kind:name.
function parts.name_of(div)
  return div.identifier:match(":(.*)")
end

-- A table as <name>.html, from the folder that the metadata name.
function parts.table_of(div)
  local path = parts.folders.tables .. "/" .. parts.name_of(div) .. ".html"
  local file = io.open(path, "r")
  if not file then
    error(path .. ": no such file; write it with 'kvstudy tabulate'")
  end
  local text = file:read("a")
  file:close()
  return text
end

-- A listing's lines, one after the other: its kind and its text, which stand as kind:text.
function parts.lines(block)
  return (block.text .. "\n"):gmatch("(%a+):(.-)\n")
end

-- What stands before a line of a listing where no type tells its kind.
function parts.sign(kind)
  return kind == "command" and "$ " or kind == "more" and "↪ " or ""
end

-- Reads the metadata: tables and figures, the folders of the parts.
function parts.Meta(meta)
  for _, name in ipairs({ "tables", "figures" }) do
    parts.folders[name] = pandoc.utils.stringify(meta[name] or "")
  end
end

-- A filter of Divs by the first of their classes that has a writer.
function parts.by_class(writers)
  return function(div)
    for _, class in ipairs(div.classes) do
      if writers[class] then
        return writers[class](div)
      end
    end
  end
end

return parts

-- The report's Markdown for HTML, after numbers.lua. Metadata: tables, the folder of
-- the tables as <name>.html. Figures get their pictures from `kvstudy build-html`.

local parts = dofile(pandoc.path.directory(PANDOC_SCRIPT_FILE) .. "/parts.lua")

local function raw(text)
  return pandoc.RawBlock("html", text)
end

local ENTITIES = { ["&"] = "&amp;", ["<"] = "&lt;", [">"] = "&gt;", ['"'] = "&quot;" }

local function escaped(text)
  return (text:gsub('[&<>"]', ENTITIES))
end

local function caption_id(div)
  return "caption-" .. escaped(div.identifier)
end

local function caption(div)
  return { raw('<figcaption id="' .. caption_id(div) .. '">'), pandoc.Plain(div.content[#div.content].content), raw("</figcaption>") }
end

local function open(div, class)
  return raw('<figure id="' .. escaped(div.identifier) .. '" class="' .. class .. '">')
end

local function listing(block)
  local lines = {}
  for kind, text in parts.lines(block) do
    lines[#lines + 1] = '<span class="' .. kind .. '">' .. parts.sign(kind) .. escaped(text) .. "</span>"
  end
  return raw('<pre tabindex="0">' .. table.concat(lines, "\n") .. "</pre>")
end

-- `kvstudy build-html` puts there a drawing, the values of a figure, or what cells a part is made of.
local function place(class, div, caption_of)
  local kind, name = div.identifier:match("^(%a+):(.*)")
  local described = caption_of and ' data-caption="' .. escaped(pandoc.utils.stringify(caption_of)) .. '"' or ""
  return raw(
    '<div class="' .. class .. '" data-kind="' .. kind .. '" data-name="' .. escaped(name) .. '"' .. described .. "></div>"
  )
end

local WRITERS = {
  table = function(div)
    local blocks = pandoc.List({ open(div, "table") })
    blocks:extend(caption(div))
    local found = parts.table_of(div)
    -- A table that is too wide is scrolled alone.
    local open_table = '<div class="scroll"><table aria-labelledby="' .. caption_id(div) .. '"'
    found = found:gsub("<table", (open_table:gsub("%%", "%%%%")))
    found = found:gsub("</table>", "</table></div>")
    blocks:extend({ raw(found), place("cells", div), raw("</figure>") })
    return blocks
  end,
  figure = function(div)
    local caption_only = { div.content[#div.content] }
    local blocks = pandoc.List({ open(div, "chart"), place("drawing", div, caption_only) })
    blocks:extend(caption(div))
    blocks:extend({ place("values", div), place("cells", div), raw("</figure>") })
    return blocks
  end,
  transcript = function(div)
    local blocks = pandoc.List({ open(div, "transcript"), listing(div.content[1]) })
    blocks:extend(caption(div))
    blocks:extend({ place("cells", div), raw("</figure>") })
    return blocks
  end,
  notice = function(div)
    div.attributes.role = "note"
    return div
  end,
  -- The page has its contents beside the text.
  contents = function()
    return {}
  end,
}

return {
  {
    Meta = parts.Meta,
  },
  {
    Div = parts.by_class(WRITERS),
  },
  {
    -- The title of the page is its only heading of the first level.
    Header = function(header)
      header.level = header.level + 1
      return header
    end,
  },
}

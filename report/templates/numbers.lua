-- What LaTeX does by itself, for all other formats: numbers for sections, tables and figures,
-- and the heading of the references. Metadata: word-table and word-figure, what a caption
-- begins with.

local numbers = {}
local words = {}
local counts = { section = 0, subsection = 0, table = 0, figure = 0 }
local in_appendix = false

local function section_number(level)
  if level == 1 then
    counts.section = counts.section + 1
    counts.subsection = 0
  else
    counts.subsection = counts.subsection + 1
  end
  local first = in_appendix and string.char(64 + counts.section) or tostring(counts.section)
  return level == 1 and first or first .. "." .. counts.subsection
end

-- The caption is the last block of a float.
local function number_float(div, kind)
  counts[kind] = counts[kind] + 1
  numbers[div.identifier] = tostring(counts[kind])
  local caption = div.content[#div.content]
  local label = pandoc.Span(
    { pandoc.Str(words[kind] .. "\u{a0}" .. counts[kind] .. ":") },
    pandoc.Attr("", { "label" })
  )
  caption.content:insert(1, pandoc.Space())
  caption.content:insert(1, label)
  div.content[#div.content] = caption
  return div
end

local function number(block)
  if block.t == "Header" and block.level <= 2 and not block.classes:includes("unnumbered") then
    local text = section_number(block.level)
    numbers[block.identifier] = text
    local span = pandoc.Span({ pandoc.Str(text) }, pandoc.Attr("", { "header-section-number" }))
    block.content:insert(1, pandoc.Str("\u{2002}"))
    block.content:insert(1, span)
  elseif block.t == "Div" and block.classes:includes("appendix") then
    in_appendix = true
    counts.section = 0
  elseif block.t == "Div" and block.classes:includes("table") then
    return number_float(block, "table")
  elseif block.t == "Div" and block.classes:includes("glance") then
    block.content = block.content:map(number)
  elseif block.t == "Div" then
    if block.classes:includes("figure") or block.classes:includes("transcript") then
      return number_float(block, "figure")
    end
  end
  return block
end

return {
  {
    Pandoc = function(doc)
      words.table = pandoc.utils.stringify(doc.meta["word-table"] or "Table")
      words.figure = pandoc.utils.stringify(doc.meta["word-figure"] or "Figure")
      -- Floats and numbered headings stand at the top level or in the glance, in the order of the text.
      doc.blocks = doc.blocks:map(number)
      return doc
    end,
  },
  {
    Div = function(div)
      -- Only floats drift, and the appendices have their letters.
      if div.classes:includes("barrier") or div.classes:includes("appendix") then
        return {}
      elseif div.classes:includes("references") then
        local title = pandoc.Header(1, div.content[1].content, pandoc.Attr("references"))
        return { title, pandoc.Div({}, pandoc.Attr("refs")) }
      end
    end,
    Link = function(link)
      if link.classes:includes("ref") then
        local found = numbers[link.target:sub(2)]
        if not found then
          error("a reference to " .. link.target .. ", which is not in the text")
        end
        link.content:insert(pandoc.Str("\u{a0}" .. found))
        return link
      end
    end,
  },
}

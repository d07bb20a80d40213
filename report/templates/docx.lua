-- The report's Markdown for Word, after numbers.lua. Metadata: tables and figures, the
-- folders of the parts as <name>.html and <name>.png.

local parts = dofile(pandoc.path.directory(PANDOC_SCRIPT_FILE) .. "/parts.lua")

local function styled(style, blocks)
  return pandoc.Div(blocks, pandoc.Attr("", {}, { ["custom-style"] = style }))
end

-- A link leads to the caption, where Word puts the bookmark.
local function caption(div, style)
  local inlines = div.content[#div.content].content
  inlines:insert(1, pandoc.Span({}, pandoc.Attr(div.identifier)))
  return styled(style, { pandoc.Para(inlines) })
end

-- No CodeBlock: its text would be as large as code within a sentence, and its lines too long.
local function listing(block)
  local lines = pandoc.List()
  for kind, text in parts.lines(block) do
    lines:extend({ pandoc.Str(parts.sign(kind) .. text), pandoc.LineBreak() })
  end
  lines:remove()
  return styled("Source Code", { pandoc.Para(lines) })
end

local function notes(div)
  return styled("Table Notes", div.content)
end

-- The caption is its alternative text, and as inlines: citations are replaced after this filter.
local function drawing(name, caption_of, width)
  local path = parts.folders.figures .. "/" .. name .. ".png"
  local image = pandoc.Image(caption_of.content:clone(), path)
  image.attributes.width = width
  return styled("Captioned Figure", { pandoc.Para({ image }) })
end

-- Letters that a column of running text may ask for, and the fewest of any column.
local WIDEST, NARROWEST = 40, 5
-- Letters beside each other on a page.
local PAGE = 105
-- A table with more letters may be broken between its rows.
local KEPT = 1600

-- Calls visit(cell, column) for each cell, over row spans and column spans.
local function each_cell(rows, visit)
  local taken = {}
  for _, row in ipairs(rows) do
    local column = 1
    for _, cell in ipairs(row.cells) do
      while (taken[column] or 0) > 0 do
        taken[column] = taken[column] - 1
        column = column + 1
      end
      visit(cell, column)
      for at = column, column + cell.col_span - 1 do
        taken[at] = cell.row_span - 1
      end
      column = column + cell.col_span
    end
    for at = column, #taken do
      taken[at] = math.max((taken[at] or 0) - 1, 0)
    end
  end
end

local function grey(inlines)
  return pandoc.Span(inlines, pandoc.Attr("", {}, { ["custom-style"] = "Grey" }))
end

-- The cell with the text of its paragraphs in what `wrap` makes of it.
local function wrapped(cell, wrap)
  cell.contents = pandoc.Blocks(cell.contents):walk({
    Para = function(paragraph)
      return pandoc.Para({ wrap(paragraph.content) })
    end,
  })
  return cell
end

-- What the source published, and gaps, as on the page.
local function in_grey(classes)
  return classes:includes("published") or classes:includes("gap")
end

-- Word has no style sheet for cells: small type, numbers to the right, and columns as wide
-- as what they hold.
local function for_word(grid)
  local letters, words = {}, {}
  local style = utf8.len(pandoc.utils.stringify(grid)) > KEPT and "Table Text" or "Table Text Kept"
  local function measure(cell, column)
    if cell.col_span == 1 then
      local text = pandoc.utils.stringify(cell.contents)
      local most = math.min(utf8.len(text) or 0, WIDEST)
      -- Words are not broken; bold ones are wider.
      for word in text:gmatch("%S+") do
        local length = math.min((utf8.len(word) or 0) + 3, WIDEST)
        words[column] = math.max(words[column] or NARROWEST, length)
        most = math.max(most, length)
      end
      letters[column] = math.max(letters[column] or NARROWEST, most)
    end
  end
  local function set(cell)
    if cell.attr.classes:includes("num") then
      cell.alignment = pandoc.AlignRight
    end
    local paragraphs = cell.contents:map(function(block)
      return block.t == "Plain" and pandoc.Para(block.content) or block
    end)
    -- Else it would have a line of the text's height.
    if #paragraphs == 0 then
      paragraphs:insert(pandoc.Para({ pandoc.Str("\u{a0}") }))
    end
    cell.contents = { styled(style, paragraphs) }
  end
  local groups = { grid.head.rows }
  for _, body in ipairs(grid.bodies) do
    groups[#groups + 1] = body.head
    groups[#groups + 1] = body.body
  end
  for _, rows in ipairs(groups) do
    each_cell(rows, measure)
    each_cell(rows, set)
    for _, row in ipairs(rows) do
      local section, published = row.attr.classes:includes("section"), in_grey(row.attr.classes)
      row.cells = row.cells:map(function(cell)
        if section then
          return wrapped(cell, pandoc.Strong)
        end
        return (published or in_grey(cell.attr.classes)) and wrapped(cell, grey) or cell
      end)
    end
  end
  local sum, fewest = 0, 0
  for column = 1, #grid.colspecs do
    sum = sum + (letters[column] or NARROWEST)
    fewest = fewest + (words[column] or NARROWEST)
  end
  -- What does not fit is taken from running text, as long as words stay whole.
  local kept = 1
  if sum > PAGE and fewest < PAGE then
    kept = (PAGE - fewest) / (sum - fewest)
    sum = PAGE
  end
  for column, spec in ipairs(grid.colspecs) do
    local most, word = letters[column] or NARROWEST, words[column] or NARROWEST
    grid.colspecs[column] = { spec[1], (word + (most - word) * kept) / sum }
  end
  return grid
end

-- What is drawn by a style sheet has no text: its column is left out.
local function without_drawn(html)
  -- The line of the axis has nothing else.
  local text = html:gsub("<tr[^>]*>.-</tr>", function(row)
    return row:find('class="strip axis"', 1, true) and "" or nil
  end)
  local count
  text, count = text:gsub('<td class="drawn"[^>]*>.-</td>', "")
  if count == 0 then
    return html
  end
  -- It is the first one behind the labels, and its head is empty.
  text = text:gsub('(<thead>%s*<tr>%s*<t[hd][^>]*>[^<]*</t[hd]>%s*)<th[^>]*></th>', "%1")
  return (text:gsub('colspan="(%d+)"', function(number)
    return 'colspan="' .. math.max(tonumber(number) - 1, 1) .. '"'
  end))
end

local WRITERS = {
  table = function(div)
    local blocks = pandoc.List({ caption(div, "Table Caption") })
    local found = pandoc.read(without_drawn(parts.table_of(div)), "html")
    -- Numbers keep the room of missing decimals on paper only.
    found = pandoc.walk_block(pandoc.Div(found.blocks), {
      Table = for_word,
      Span = function(span)
        if span.classes:includes("phantom") then
          return {}
        end
        return span.classes:includes("grey") and grey(span.content) or nil
      end,
      Div = function(inner)
        return inner.classes:includes("notes") and notes(inner) or nil
      end,
    })
    blocks:extend(found.content)
    return blocks
  end,
  figure = function(div)
    local picture = drawing(parts.name_of(div), div.content[#div.content], "15.7cm")
    return { picture, caption(div, "Image Caption") }
  end,
  transcript = function(div)
    return { listing(div.content[1]), caption(div, "Image Caption") }
  end,
  notice = function(div)
    return styled("Notice", div.content)
  end,
  -- One page, if the fonts allow it.
  glance = function(div)
    local paragraphs = div:walk({
      Plain = function(plain)
        return pandoc.Para(plain.content)
      end,
    })
    return styled("Glance", paragraphs.content)
  end,
  ["page-break"] = function()
    return pandoc.RawBlock("openxml", '<w:p><w:r><w:br w:type="page"/></w:r></w:p>')
  end,
}

local function field(code)
  local function mark(kind)
    return '<w:r><w:fldChar w:fldCharType="' .. kind .. '"/></w:r>'
  end
  local instruction = "<w:r><w:instrText>" .. code .. "</w:instrText></w:r>"
  return mark("begin") .. instruction .. mark("separate") .. mark("end")
end

-- Links with fields of their pages, which only a layout can tell. LibreOffice fills them when it
-- opens the file; Word when it prints or shows what it would print, or is asked to (F9), and none
-- stands there until then. A whole field of contents, Word would fill at once, but asks before,
-- and LibreOffice not at all.
local function contents(doc)
  local title = { pandoc.Str(pandoc.utils.stringify(doc.meta["word-contents"])) }
  local items = pandoc.List({ styled("TOC Heading", { pandoc.Para(title) }) })
  for _, block in ipairs(doc.blocks) do
    if block.t == "Header" and block.level == 1 then
      -- A name that fields allow: those of the headings have hyphens.
      local name = "toc" .. #items
      local words = block.content:clone()
      block.content = { pandoc.Span(words, pandoc.Attr(name)) }
      local page = pandoc.RawInline("openxml", "<w:r><w:tab/></w:r>" .. field("PAGEREF " .. name .. " \\h"))
      local link = pandoc.Link(words .. { page }, "#" .. name)
      items:insert(styled("toc 1", { pandoc.Para({ link }) }))
    end
  end
  return items
end

return {
  {
    Meta = parts.Meta,
  },
  {
    Div = parts.by_class(WRITERS),
  },
  {
    Pandoc = function(doc)
      local blocks = pandoc.List()
      for _, block in ipairs(doc.blocks) do
        if block.t == "Div" and block.classes:includes("contents") then
          blocks:extend(contents(doc))
        else
          blocks:insert(block)
        end
      end
      doc.blocks = blocks
      return doc
    end,
  },
}

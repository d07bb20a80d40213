-- The report's Markdown for LaTeX: floats, references to them, notices.
-- Metadata: tables and figures, the folders of the parts as TeX finds them.

local parts = dofile(pandoc.path.directory(PANDOC_SCRIPT_FILE) .. "/parts.lua")

local function raw(text)
  return pandoc.RawBlock("latex", text)
end

local function inline(text)
  return pandoc.RawInline("latex", text)
end

local SPECIAL = {
  ["\\"] = "\\textbackslash{}", ["{"] = "\\{", ["}"] = "\\}", ["$"] = "\\$", ["&"] = "\\&",
  ["#"] = "\\#", ["%"] = "\\%", ["_"] = "\\_", ["~"] = "\\textasciitilde{}",
  ["^"] = "\\textasciicircum{}", ["<"] = "\\textless{}", [">"] = "\\textgreater{}",
  ["|"] = "\\textbar{}", ["`"] = "\\textasciigrave{}", ["["] = "{[}", ["]"] = "{]}",
  -- Two hyphens in a row would become a dash.
  ["-"] = "-{}",
  -- An apostrophe that was typed is straight, not a closing quotation mark.
  ["'"] = "\\textquotesingle{}", [" "] = "\\ ",
}

-- A listing's lines: kind, colon, text.
local function listing(block)
  local lines = { "\\begin{transcript}" }
  for kind, text in parts.lines(block) do
    lines[#lines + 1] = "\\transcript" .. kind .. "{" .. text:gsub(".", SPECIAL) .. "}"
  end
  lines[#lines + 1] = "\\end{transcript}"
  return raw(table.concat(lines, "\n"))
end

-- The caption is the last block of a float, and the last argument of the class's command for it.
local function float(command, div)
  local inlines = pandoc.List({ inline(command .. "{" .. div.identifier .. "}{") })
  inlines:extend(div.content[#div.content].content)
  inlines:insert(inline("}"))
  return pandoc.Para(inlines)
end

local WRITERS = {
  table = function(div)
    return float("\\fittable{" .. parts.folders.tables .. "/" .. parts.name_of(div) .. ".tex}", div)
  end,
  figure = function(div)
    return float("\\fitfigure{" .. parts.folders.figures .. "/" .. parts.name_of(div) .. ".pdf}", div)
  end,
  transcript = function(div)
    return {
      -- No float: it is long, and may go on on the next page.
      raw("\\par\\addvspace{\\floatsep}"),
      listing(div.content[1]),
      float("\\transcriptcaption", div),
    }
  end,
  notice = function(div)
    table.insert(div.content, 1, raw("\\begin{notice}"))
    div.content:insert(raw("\\end{notice}"))
    return div.content
  end,
  -- One page.
  glance = function(div)
    table.insert(div.content, 1, raw("\\begingroup\\small\\medskip"))
    div.content:insert(raw("\\par\\endgroup"))
    return div.content
  end,
  contents = function()
    return raw("\\contentsintwo")
  end,
  ["page-break"] = function()
    return raw("\\clearpage")
  end,
  barrier = function()
    return raw("\\laxbarrier")
  end,
  appendix = function()
    return raw("\\appendix")
  end,
  references = function(div)
    local inlines = pandoc.List({ inline("\\bibliographyof{") })
    inlines:extend(div.content[1].content)
    inlines:insert(inline("}"))
    return pandoc.Para(inlines)
  end,
}

local function write_link(link)
  if link.classes:includes("ref") then
    local inlines = link.content
    inlines:insert(inline("~\\ref{" .. link.target:sub(2) .. "}"))
    return inlines
  end
end

-- Pandoc leaves a backtick as it is, and TeX prints an opening quotation mark for it.
local function write_str(str)
  if not str.text:find("`") then
    return nil
  end
  local inlines = pandoc.List()
  for before, mark in str.text:gmatch("([^`]*)(`?)") do
    if before ~= "" then
      inlines:insert(pandoc.Str(before))
    end
    if mark ~= "" then
      inlines:insert(inline("\\textasciigrave{}"))
    end
  end
  return inlines
end

return {
  {
    Meta = parts.Meta,
  },
  { Div = parts.by_class(WRITERS), Link = write_link, Str = write_str },
}

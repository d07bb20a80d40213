-- ::: notice blocks become the LaTeX environment of that name.
function Div(div)
  if div.classes:includes("notice") then
    table.insert(div.content, 1, pandoc.RawBlock("latex", "\\begin{notice}"))
    div.content:insert(pandoc.RawBlock("latex", "\\end{notice}"))
    return div.content
  end
end

-- Pandoc leaves a backtick as it is, and TeX prints an opening quotation mark for it.
function Str(str)
  if not str.text:find("`") then
    return nil
  end
  local inlines = pandoc.List()
  for before, mark in str.text:gmatch("([^`]*)(`?)") do
    if before ~= "" then
      inlines:insert(pandoc.Str(before))
    end
    if mark ~= "" then
      inlines:insert(pandoc.RawInline("latex", "\\textasciigrave{}"))
    end
  end
  return inlines
end

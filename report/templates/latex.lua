-- ::: notice blocks become the LaTeX environment of that name.
function Div(div)
  if div.classes:includes("notice") then
    table.insert(div.content, 1, pandoc.RawBlock("latex", "\\begin{notice}"))
    div.content:insert(pandoc.RawBlock("latex", "\\end{notice}"))
    return div.content
  end
end

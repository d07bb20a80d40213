-- Czech typography: no line ends after a preposition or conjunction of one letter, nor between
-- an ordinal (the day of a date, say) and the word that belongs to it.

local NO_BREAK = pandoc.Str("\u{a0}")

local function binds(text)
  text = text:gsub("^„", "")
  return text:match("^%p*[KkSsVvZzOoUuAaIi]$") or text:match("^%p*%d+%.$")
end

function Inlines(inlines)
  for place = 1, #inlines - 1 do
    local this, following = inlines[place], inlines[place + 1]
    local space = following.t == "Space" or following.t == "SoftBreak"
    if space and this.t == "Str" and binds(this.text) then
      inlines[place + 1] = NO_BREAK
    end
  end
  return inlines
end

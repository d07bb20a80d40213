-- Typography of all languages: no line ends between a number and its unit, nor within a number.

local NARROW = pandoc.Str("\u{202f}")
local UNITS = {}
for unit in ("% s ms µs min h B kB MB GB TB KiB MiB GiB ops/s kops/s MHz GHz"):gmatch("%S+") do
  UNITS[unit] = true
end

local function binds(number, following)
  if not number:match("%d$") then
    return false
  end
  local group = number:match("%d+$")
  if #group <= 3 and following:match("^%d%d%d%f[%D]") and not number:match("[.,]%d+$") then
    return true
  end
  return UNITS[following] or UNITS[following:match("^(.-)[%.,;:%)]*$")]
end

function Inlines(inlines)
  for place = 2, #inlines - 1 do
    local before, this, after = inlines[place - 1], inlines[place], inlines[place + 1]
    local space = this.t == "Space" or this.t == "SoftBreak"
    if space and before.t == "Str" and after.t == "Str" and binds(before.text, after.text) then
      inlines[place] = NARROW
    end
  end
  return inlines
end

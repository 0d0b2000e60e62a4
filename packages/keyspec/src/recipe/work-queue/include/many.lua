-- many.lua. Commands over any number of values: Lua can unpack only some thousands at once.

-- Runs a command that takes any number of values; Lua can unpack only some thousands at once.
local function batch(command, key, values)
  for from = 1, #values, 4000 do
    redis.call(command, key, unpack(values, from, math.min(from + 3999, #values)))
  end
end

-- HMGET, however many fields.
local function lookUp(key, fields)
  local found = {}
  for from = 1, #fields, 4000 do
    local part = redis.call('HMGET', key, unpack(fields, from, math.min(from + 3999, #fields)))
    for i = 1, #part do found[from + i - 1] = part[i] end
  end
  return found
end

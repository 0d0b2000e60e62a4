-- write.lua. Runs one write on a key and gives the key its lifetime in the same step.
-- `values` holds `lead` arguments that every call repeats, then the elements, of which one call takes at most `slice`:
-- Lua cannot unpack more than some thousands at once. Answers the sum of the integer replies, or the last of others.
local head, count = {}, #values
for i = 1, lead do head[i] = values[i] end

local reply
local from = lead + 1
repeat
  local call = {command, key}
  for i = 1, lead do call[#call + 1] = head[i] end
  for i = from, math.min(from + slice - 1, count) do call[#call + 1] = values[i] end
  from = from + slice
  local answer = redis.call(unpack(call))
  if summed and reply then reply = reply + answer else reply = answer end
  --@include ../script/include/give-lifetime.lua
until from > count
return reply

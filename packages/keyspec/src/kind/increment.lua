-- increment.lua. INCRBY, with the key's lifetime in the same step. Answers nil, and leaves the count as it was, where it
-- would come beyond ±(2^53 − 1): Redis could still tell it exactly, but neither Lua nor JavaScript.
-- The count is answered as text: a client may build a number digit by digit, and round the greatest ones.
local count = redis.call('INCRBY', key, by)
if count > 9007199254740991 or count < -9007199254740991 then
  redis.call('INCRBY', key, string.format('%.0f', -by))
  return false
end
--@include ../script/include/give-lifetime.lua
return string.format('%.0f', count)

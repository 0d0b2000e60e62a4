-- next.lua. Takes the next `count` numbers of a sequence and answers the last of them; or nil, with nothing taken, where
-- it would pass 2^53 - 1: beyond, the doubles of Lua and JavaScript would give two callers the same number. The answer is
-- text, because some clients read an integer reply inexactly before that already.
local last = redis.call('INCRBY', key, count)
if last > 9007199254740991 then
  redis.call('INCRBY', key, string.format('%.0f', -count))
  return false
end
--@include ../../script/include/give-lifetime.lua
return string.format('%.0f', last)

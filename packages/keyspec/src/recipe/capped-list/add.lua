-- add.lua. Puts values at the head of a list, cuts it to its newest `most` and gives it its lifetime, in one step.
-- `values` come oldest first; Lua cannot unpack more than some thousands at once. Answers the length of the list.
for from = 1, #values, 4000 do
  redis.call('LPUSH', key, unpack(values, from, math.min(from + 3999, #values)))
end
redis.call('LTRIM', key, '0', most - 1)
--@include ../../script/include/give-lifetime.lua
return redis.call('LLEN', key)

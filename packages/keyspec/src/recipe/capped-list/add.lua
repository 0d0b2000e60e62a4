-- add.lua. Puts values at the head of a list, cuts it to its newest `most` and gives it its lifetime, in one step.
-- `values` come oldest first; Lua cannot unpack more than some thousands at once. Answers the length of the list.
-- renew 'creation': the lifetime is set only where the list has none, be it new or never given one.
for from = 1, #values, 4000 do
  redis.call('LPUSH', key, unpack(values, from, math.min(from + 3999, #values)))
end
redis.call('LTRIM', key, '0', most - 1)
if ttlMs ~= '0' and (renew ~= 'creation' or redis.call('PTTL', key) == -1) then redis.call('PEXPIRE', key, ttlMs) end
return redis.call('LLEN', key)

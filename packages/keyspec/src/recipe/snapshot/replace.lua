-- replace.lua. Puts a whole new collection in place of the old one: `command` (SADD, HSET) stages the values, then they
-- are renamed into place. A reader sees the old one or the new one; an error while staging leaves the old one.
-- Elements of a hash are pairs, so a slice is even; Lua cannot unpack more than some thousands at once.
-- Answers how many elements there are.
redis.call('DEL', staging)
local size = 0
for from = 1, #values, 4000 do
  size = size + redis.call(command, staging, unpack(values, from, math.min(from + 3999, #values)))
end
redis.call('RENAME', staging, key)
if ttlMs ~= '0' then redis.call('PEXPIRE', key, ttlMs) end
return size

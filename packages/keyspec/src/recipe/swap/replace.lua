-- replace.lua. Puts a whole new collection in place of the old one: `command` (SADD, HSET) stages the values, then they
-- are renamed into place. A reader sees the old one or the new one; an error while staging leaves the old one.
-- Elements of a hash are pairs, so a slice is even; Lua cannot unpack more than some thousands at once.
-- A RENAME onto a key frees its old value before the server does anything else; UNLINK frees it in the background. What may
-- be refused is tried before the old one goes: the lifetime is set on the staging key, and a key may be renamed to itself.
-- Answers how many elements there are.
-- An UNLINK that finds nothing would still be a write, and a server out of memory refuses a script's first write alone.
if redis.call('TYPE', staging).ok ~= 'none' then redis.call('UNLINK', staging) end
local size = 0
for from = 1, #values, 4000 do
  size = size + redis.call(command, staging, unpack(values, from, math.min(from + 3999, #values)))
end
if ttlMs ~= '0' then redis.call('PEXPIRE', staging, ttlMs) end
redis.call('RENAME', staging, staging)
redis.call('UNLINK', key)
redis.call('RENAME', staging, key)
return size

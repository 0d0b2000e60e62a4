-- set-once.lua. SET that keeps the time to live which the key was given at its creation; one that never had any gets it.
-- If `present`, writes only over a value that is there. Answers the value that stood there before if `get`, else
-- whether it wrote.
local before = false
if get then before = redis.call('GET', key) end
local ttl = redis.call('PTTL', key)
if present and ttl == -2 then return false end
if ttl > 0 then
  redis.call('SET', key, value, 'KEEPTTL')
else
  redis.call('SET', key, value, 'PX', ttlMs)
end
if get then return before end
return 1

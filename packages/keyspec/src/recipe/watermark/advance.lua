-- advance.lua. Writes `value` if the key still holds what the caller compared it with: `seen`, or nothing where not
-- `present`. Answers whether it wrote, and what the key holds where it did not.
-- renew 'creation': the lifetime is set only where the key has none, be it new or never given one.
local current = redis.call('GET', key)
if current ~= (present and seen) then return {0, current} end
if ttlMs == '0' or (renew == 'creation' and redis.call('PTTL', key) >= 0) then
  redis.call('SET', key, value, 'KEEPTTL')
else
  redis.call('SET', key, value, 'PX', ttlMs)
end
return {1}

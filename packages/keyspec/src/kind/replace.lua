-- replace.lua. SET where the key still holds what was `seen`, or still nothing if nothing was seen, with the key's
-- lifetime in the same step. Answers {1}, or {0} and what is there now, if anything is: then nothing was done.
local before = redis.call('GET', key)
if before ~= (found and seen) then return {0, before} end
if ttlMs == '0' then
  redis.call('SET', key, value)
elseif renew == 'creation' and redis.call('PTTL', key) > 0 then
  redis.call('SET', key, value, 'KEEPTTL')
else
  redis.call('SET', key, value, 'PX', ttlMs)
end
return {1}

-- at-least.lua. Raises a sequence to `value`, never lowers it. Answers 1 if it was raised, else 0,
-- and where it stands now, as text.
-- renew 'creation': the lifetime is set only where the key has none, be it new or never given one.
local current = redis.call('GET', key)
if current then
  if not string.match(current, '^%-?%d+$') then return redis.error_reply('ERR it does not hold a whole number') end
  if tonumber(current) >= tonumber(value) then return {0, current} end
end
if ttlMs == '0' or (renew == 'creation' and redis.call('PTTL', key) >= 0) then
  redis.call('SET', key, value, 'KEEPTTL')
else
  redis.call('SET', key, value, 'PX', ttlMs)
end
return {1, value}

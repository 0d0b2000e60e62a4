-- at-least.lua. Raises a sequence to `value`, never lowers it. Answers where it stands now, as text.
-- renew 'creation': the lifetime is set only where the key has none, be it new or never given one.
local current = redis.call('GET', key)
if current then
  if not string.match(current, '^%-?%d+$') then return redis.error_reply('ERR it does not hold a whole number') end
  if tonumber(current) >= tonumber(value) then return current end
end
redis.call('SET', key, value, 'KEEPTTL')
if ttlMs ~= '0' and (renew ~= 'creation' or redis.call('PTTL', key) == -1) then redis.call('PEXPIRE', key, ttlMs) end
return value

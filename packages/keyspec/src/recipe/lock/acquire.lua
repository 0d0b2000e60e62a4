-- acquire.lua. Takes the lock for `token` if it is free, or is held by this very token already: whoever did not hear the
-- answer may ask again. A lock that others left without a time to live is given ours: it would be held for ever.
-- The key for fences, where there is one, holds the newest holder's number. The next number is one more than that, and at
-- least the server's time in microseconds. The key lives for `fenceTtlMs` longer than the instant that its number names, so
-- that the time gives a higher number once the key has expired. It is read and checked before anything is written.
-- Answers {1, fence or 0}, or {0, the holder's time to live in ms}.
local holder = redis.call('GET', key)
if holder and holder ~= token then
  local left = redis.call('PTTL', key)
  if left == -1 then
    redis.call('PEXPIRE', key, ttlMs)
    left = tonumber(ttlMs)
  end
  return {0, left}
end
local fence = 0
if fences[1] then
  local stored = redis.pcall('GET', fences[1])
  local refused = type(stored) == 'table' and stored.err
  if refused and not string.find(refused, 'WRONGTYPE', 1, true) then return stored end
  if refused or stored and not string.match(stored, '^%-?%d+$') then
    return redis.error_reply('ERR ' .. fences[1] .. ' holds no fence, so no lock was taken: delete or correct it')
  end
  local last = tonumber(stored or 0)
  if last >= 9007199254740991 then
    return redis.error_reply('ERR ' .. fences[1] .. ' holds the last fence, 2^53 - 1, so no lock was taken')
  end
  fence = math.max(last + 1, now * 1000)
  local aheadMs = math.max(0, math.ceil(fence / 1000) - now)
  -- The fence first: if the lock cannot be written, a number is left out, and nobody holds the lock.
  redis.call('SET', fences[1], string.format('%.0f', fence), 'PX', string.format('%.0f', aheadMs + fenceTtlMs))
end
redis.call('SET', key, token, 'PX', ttlMs)
return {1, fence}

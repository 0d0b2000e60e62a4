-- acquire.lua. Takes the lock for `token` if it is free, or is held by this very token already: whoever did not hear the
-- answer may ask again. A lock that others left without a time to live is given ours: it would be held for ever.
-- Where there is a key for fences, its number rises with each holder: one more than the last, and at least the server's
-- time in microseconds, so that it also rises when that key was lost.
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
redis.call('SET', key, token, 'PX', ttlMs)
local fence = 0
if fences[1] then
  fence = math.max(tonumber(redis.call('GET', fences[1]) or 0) + 1, now * 1000)
  redis.call('SET', fences[1], string.format('%.0f', fence), 'PX', fenceTtlMs)
end
return {1, fence}

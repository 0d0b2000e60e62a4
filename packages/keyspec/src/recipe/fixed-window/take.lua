-- take.lua. Takes `cost` from a fixed window of `limit` if that much is left, or by `force`; a cost of 0 only looks.
-- The key counts what was taken, and its time to live is the window: it starts with the first take and is never renewed.
-- Answers {allowed, remaining, resetMs, retryAfterMs}.
local stored = redis.call('GET', key)
local used = tonumber(stored or 0)
if not used then error('holds no count, but: ' .. string.sub(stored, 1, 40)) end
local left = redis.call('PTTL', key)
local allowed = force or used + cost <= limit

if cost > 0 and allowed then used = redis.call('INCRBY', key, cost) end
-- No time to live: new, or left so by a program that counted and died. More than a window: the clock was set back.
if left == -1 or left > perMs or (left == -2 and cost > 0) then
  if cost > 0 then redis.call('PEXPIRE', key, perMs) end
  left = perMs
end
left = math.max(0, left)
-- PTTL 0 is the last millisecond in which the key still stands.
return {allowed and 1 or 0, math.max(0, limit - used), left, allowed and 0 or left + 1}

-- take.lua. Takes `cost` from a fixed window of `limit` if that much is left, or by `force`, `count` times; a cost of 0
-- only looks.
-- The key counts what was taken, and its time to live is the window: it starts with the first take and is never renewed.
-- Answers {how many were allowed, remaining, resetMs, retryAfterMs, cost}: retryAfterMs is for those refused, if any.
local stored = redis.call('GET', key)
local used = tonumber(stored or 0)
if not used then error('holds no count, but: ' .. string.sub(stored, 1, 40)) end
local left = redis.call('PTTL', key)
local allowed = count
if not force and cost > 0 then allowed = math.max(0, math.min(count, math.floor((limit - used) / cost))) end

local taken = allowed * cost
if taken > 0 then used = redis.call('INCRBY', key, taken) end
-- No time to live: new, or left so by a program that counted and died. More than a window: the clock was set back.
if left == -1 or left > perMs or (left == -2 and cost > 0) then
  if cost > 0 then redis.call('PEXPIRE', key, perMs) end
  left = perMs
end
left = math.max(0, left)
-- PTTL 0 is the last millisecond in which the key still stands.
return {allowed, math.max(0, limit - used), left, allowed == count and 0 or left + 1, cost}

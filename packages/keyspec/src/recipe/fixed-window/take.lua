-- take.lua. Takes `cost` from a fixed window of `limit` if that much is left, or by `force`, `count` times; a cost of 0
-- only looks.
-- The key counts what was taken, and its time to live is the window: it starts with the first take and is never renewed.
-- One take counts first, and takes back what was too much; several at once read first, and so does a `wary` one, which
-- is probably refused, since those who are refused shall write nothing. Either way the answer is the same.
-- Answers {remaining, resetMs}, and behind them retryAfterMs to who is refused. Where count is above 1: {remaining,
-- resetMs, retryAfterMs, how many were allowed, cost}, with retryAfterMs for those refused, if any.
local call = redis.call

if count == 1 and not wary and not force and cost ~= '0' then
  local used = redis.pcall('INCRBY', key, cost)
  if type(used) == 'number' then
    local left = call('PTTL', key)
    if left < 0 or left > perMs then
      call('PEXPIRE', key, perMs)
      left = perMs
    end
    if used <= limit then return {limit - used, left} end
    used = call('INCRBY', key, '-' .. cost)
    return {math.max(0, limit - used), left, left + 1}
  end
  -- What is there is no count: the error of GET says what it is, or the one below.
end

local stored = call('GET', key)
local used = tonumber(stored or 0)
if not used then return redis.error_reply('NOCOUNT holds no count, but ' .. #stored .. ' bytes that are none') end
cost = tonumber(cost)
local allowed = count
if not force and cost > 0 then allowed = math.max(0, math.min(count, math.floor((limit - used) / cost))) end

local taken = allowed * cost
if taken > 0 then used = call('INCRBY', key, taken) end
local left = call('PTTL', key)
-- No time to live: new, or left so by a program that counted and died. More than a window: the clock was set back.
if left == -1 or left > perMs or (left == -2 and cost > 0) then
  if cost > 0 then call('PEXPIRE', key, perMs) end
  left = perMs
end
left = math.max(0, left)
-- PTTL 0 is the last millisecond in which the key still stands.
local remaining, retryAfterMs = math.max(0, limit - used), allowed == count and 0 or left + 1
if count > 1 then return {remaining, left, retryAfterMs, allowed, cost} end
if allowed == 1 then return {remaining, left} end
return {remaining, left, retryAfterMs}

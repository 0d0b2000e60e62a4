-- take.lua. Takes `cost` hits from a sliding window of `limit` if that many are left, or by `force`, `count`
-- times; a cost of 0 only looks.
-- The key is a sorted set, a member a hit, its score the server's time in seconds with a fraction. A member is its
-- score with more digits, so that hits of one instant are as many members: 1704067200.123 and the count 7 give
-- 1704067200.1230007. A hit is in the window while its score is above now - per.
-- Answers {remaining, resetMs}, and behind them retryAfterMs to who is refused. Where count is above 1: {remaining,
-- resetMs, retryAfterMs, how many were allowed, cost}, with retryAfterMs for those refused, if any.
-- Two whole numbers are written quicker than one with a fraction.
local function seconds(ms) return string.format('%d.%03d', math.floor(ms / 1000), ms % 1000) end
-- Others write scores in microseconds: they count until they are over. Never later than now, see below.
local function instant(score) return math.min(now, math.ceil(tonumber(score) * 1000 - 0.001)) end
local call, span = redis.call, tonumber(perMs)

if cost == 0 then
  local used = call('ZCOUNT', key, '(' .. seconds(now - span), '+inf')
  local newest = call('ZRANGE', key, '-1', '-1', 'WITHSCORES')[2]
  local remaining, resetMs = math.max(0, limit - used), used > 0 and instant(newest) + span - now or 0
  if count == 1 then return {remaining, resetMs} end
  return {remaining, resetMs, 0, count, 0}
end

local score = seconds(now)
local used = call('ZCARD', key)
if used > 0 then
  used = used - call('ZREMRANGEBYSCORE', key, '-inf', seconds(now - span))
  -- Scores in microseconds of this very millisecond are none of the future.
  local ahead = call('ZRANGEBYSCORE', key, '(' .. score .. '999', '+inf')
  if #ahead > 0 then
    -- The clock went back, as after a failover. Hits from the future leave one window from now, no later, no sooner.
    for _, member in ipairs(ahead) do call('ZADD', key, 'XX', score, member) end
    call('PEXPIRE', key, perMs)
  end
end

local allowed = count
if not force then allowed = math.max(0, math.min(count, math.floor((limit - used) / cost))) end

local number = used
for _ = 1, allowed * cost do
  -- The number is taken only where hits have left since: then the next one is tried.
  repeat
    local added = call('ZADD', key, 'NX', score, score .. string.format('%04d', number))
    number = number + 1
  until added == 1
end
used = used + allowed * cost

local retryAfterMs = 0
if allowed < count then
  local last = used + cost - limit - 1
  retryAfterMs = instant(call('ZRANGE', key, last, last, 'WITHSCORES')[2]) + span - now
end
local newest = now
if allowed > 0 then
  call('PEXPIRE', key, perMs)
elseif used > 0 then
  newest = instant(call('ZRANGE', key, '-1', '-1', 'WITHSCORES')[2])
end
local remaining, resetMs = math.max(0, limit - used), newest + span - now
if count > 1 then return {remaining, resetMs, retryAfterMs, allowed, cost} end
if allowed == 1 then return {remaining, resetMs} end
return {remaining, resetMs, retryAfterMs}

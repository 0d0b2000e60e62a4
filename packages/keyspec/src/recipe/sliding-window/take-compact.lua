-- take-compact.lua. Takes `cost` hits from a sliding window of `limit` if that many are left, or by `force`, `count`
-- times; a cost of 0 only looks. The key is a string of at most 44 bytes, big-endian numbers:
--   6 bytes  at     an instant in ms of the server's clock; times are so many units before it
--   2 bytes         the first hit of the newest group
--   then, for each group of hits, oldest first: 2 bytes its last hit, 2 bytes how many hits it has
-- A unit is the least whole number of ms of which 65,535 span the window. A time is rounded up to a unit, so a hit is
-- never forgotten early. A hit joins the newest group if that began less than `width` ago.
-- Answers {remaining, resetMs}, and behind them retryAfterMs to who is refused. Where count is above 1: {remaining,
-- resetMs, retryAfterMs, how many were allowed, cost}, with retryAfterMs for those refused, if any.
local GROUPS, MOST = 9, 65535
local call, ceil, max = redis.call, math.ceil, math.max
local span = tonumber(perMs)
local unit = max(1, ceil(span / MOST))

local at, first, used, newest, wentBack = now, 0, 0, 0, false
local ages, counts = {}, {}
local stored = call('GET', key)
if stored then
  if #stored < 12 or #stored % 4 ~= 0 then
    return redis.error_reply('NOCOUNT holds no compact window, but ' .. #stored .. ' bytes')
  end
  at, first = struct.unpack('>I6I2', stored)
  local steps = 0
  if at - now >= unit then
    -- The clock went back, as after a failover: the hits keep their distances, and the newest counts as of now.
    at, wentBack = now, true
  else
    steps = max(0, ceil((now - at) / unit))
    at = at + steps * unit
  end
  first = first + steps
  for i = 9, #stored, 4 do
    local age, count = struct.unpack('>I2I2', stored, i)
    age = age + steps
    if at - age * unit + span > now then
      newest = newest + 1
      ages[newest], counts[newest] = age, count
      used = used + count
    end
  end
end

-- How long a group of this age still counts: `leaves - age * unit`.
local leaves = at + span - now

local allowed = count
if not force and cost > 0 then
  allowed = limit - used
  if cost > 1 then allowed = math.floor(allowed / cost) end
  if allowed > count then allowed = count elseif allowed < 0 then allowed = 0 end
end

local taken = allowed * cost
if taken > 0 then
  local width = limit <= GROUPS and 0 or ceil(span / (GROUPS - 1) / unit)
  if newest > 0 and (ages[newest] == 0 or first < width) then
    ages[newest], counts[newest] = 0, math.min(MOST, counts[newest] + taken)
  else
    newest = newest + 1
    ages[newest], counts[newest], first = 0, math.min(MOST, taken), 0
  end
  used = used + taken
end
-- Else the newest hit would count as of now at each refusal, until the clock is where it was.
if taken > 0 or (wentBack and cost > 0) then
  local window = struct.pack('>I6I2', at, math.min(MOST, first))
  for i = 1, newest do window = window .. struct.pack('>I2I2', ages[i], counts[i]) end
  call('SET', key, window, 'PX', perMs)
end

local remaining, resetMs, retryAfterMs = limit - used, 0, 0
if remaining < 0 then remaining = 0 end
if newest > 0 then resetMs = leaves - ages[newest] * unit end
if allowed == count then
  if count == 1 then return {remaining, resetMs} end
else
  local group, missing = 0, used + cost - limit
  repeat
    group = group + 1
    missing = missing - counts[group]
  until missing <= 0
  retryAfterMs = leaves - ages[group] * unit
  if count == 1 then return {remaining, resetMs, retryAfterMs} end
end
return {remaining, resetMs, retryAfterMs, allowed, cost}

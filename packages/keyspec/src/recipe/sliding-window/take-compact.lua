-- take-compact.lua. Takes `cost` hits from a sliding window of `limit` if that many are left, or by `force`, `count`
-- times; a cost of 0 only looks. The key is a string of at most 44 bytes, big-endian numbers:
--   6 bytes  at     an instant in ms of the server's clock; times are so many units before it
--   2 bytes         the first hit of the newest group
--   then, for each group of hits, oldest first: 2 bytes its last hit, 2 bytes how many hits it has
-- A unit is the least whole number of ms of which 65,535 span the window. A time is rounded up to a unit, so a hit is
-- never forgotten early. A hit joins the newest group if that began less than `width` ago.
-- Answers {how many were allowed, remaining, resetMs, retryAfterMs, cost}: retryAfterMs is for those refused, if any.
local GROUPS, MOST = 9, 65535
local unit = math.max(1, math.ceil(perMs / MOST))
local width = limit <= GROUPS and 0 or math.ceil(perMs / (GROUPS - 1) / unit)

local at, first, used, wentBack = now, 0, 0, false
local ages, counts = {}, {}
local stored = redis.call('GET', key)
if stored then
  if #stored < 12 or #stored % 4 ~= 0 then error('holds no compact window, but ' .. #stored .. ' bytes') end
  at, first = struct.unpack('>I6I2', stored)
  local steps = 0
  if at - now >= unit then
    -- The clock went back, as after a failover: the hits keep their distances, and the newest counts as of now.
    at, wentBack = now, true
  else
    steps = math.max(0, math.ceil((now - at) / unit))
    at = at + steps * unit
  end
  first = first + steps
  for i = 9, #stored, 4 do
    local age, count = struct.unpack('>I2I2', stored, i)
    age = age + steps
    if at - age * unit + perMs > now then
      ages[#ages + 1], counts[#counts + 1] = age, count
      used = used + count
    end
  end
end

local function leaves(age) return at - age * unit + perMs - now end

local function store()
  local groups = {}
  for i = 1, #ages do groups[i] = struct.pack('>I2I2', ages[i], counts[i]) end
  redis.call('SET', key, struct.pack('>I6I2', at, math.min(MOST, first)) .. table.concat(groups), 'PX', perMs)
end

if cost == 0 then
  return {count, math.max(0, limit - used), used > 0 and leaves(ages[#ages]) or 0, 0, 0}
end

local allowed = count
if not force then allowed = math.max(0, math.min(count, math.floor((limit - used) / cost))) end

local taken = allowed * cost
if taken > 0 then
  local newest = #ages
  if newest > 0 and (ages[newest] == 0 or first < width) then
    ages[newest], counts[newest] = 0, math.min(MOST, counts[newest] + taken)
  else
    newest = newest + 1
    ages[newest], counts[newest], first = 0, math.min(MOST, taken), 0
  end
  used = used + taken
end
-- Else the newest hit would count as of now at each refusal, until the clock is where it was.
if taken > 0 or wentBack then store() end

local retryAfterMs = 0
if allowed < count then
  local group, missing = 0, used + cost - limit
  repeat
    group = group + 1
    missing = missing - counts[group]
  until missing <= 0
  retryAfterMs = leaves(ages[group])
end
return {allowed, math.max(0, limit - used), leaves(ages[#ages]), retryAfterMs, cost}

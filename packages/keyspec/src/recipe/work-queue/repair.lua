--@include include/many.lua
-- repair.lua. One step of a repair over one of the keys of jobs in progress, about `size` entries from `cursor` on.
-- `part` says which: a job of 'jobs' without a deadline gets a lease that begins now; what stands for no job in progress
-- leaves 'holders', 'leases' and 'attempts' (there only while nothing waits, since waiting jobs keep their attempts).
-- Answers the next cursor ('0' at the end), and how many entries it changed.
local function orphans(fields)
  local found = {}
  local ids = {}
  for n, field in ipairs(fields) do ids[n] = string.match(field, '^(.*) unheard$') or field end
  for n, text in ipairs(lookUp(inProgress, ids)) do
    if not text then found[#found + 1] = fields[n] end
  end
  return found
end

local function names(flat)
  local fields = {}
  for i = 1, #flat, 2 do fields[#fields + 1] = flat[i] end
  return fields
end

if part == 'jobs' then
  local page = redis.call('HSCAN', inProgress, cursor, 'COUNT', size)
  local leases = {}
  for _, id in ipairs(names(page[2])) do
    if not redis.call('ZSCORE', deadlines, id) then
      leases[#leases + 1] = string.format('%.0f', now + leaseMs - 1 + (now + leaseMs) % 2)
      leases[#leases + 1] = id
    end
  end
  batch('ZADD', deadlines, leases)
  return {page[1], #leases / 2}
end
if part == 'leases' then
  local page = redis.call('ZSCAN', deadlines, cursor, 'COUNT', size)
  local gone = orphans(names(page[2]))
  batch('ZREM', deadlines, gone)
  return {page[1], #gone}
end
local key = part == 'holders' and holders or attempts
if key == attempts and redis.call('LLEN', waiting) > 0 then return {'0', 0} end
local page = redis.call('HSCAN', key, cursor, 'COUNT', size)
local gone = orphans(names(page[2]))
batch('HDEL', key, gone)
return {page[1], #gone}

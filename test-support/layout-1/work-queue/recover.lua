-- recover.lua. Takes up to `most` jobs whose lease has run out from their holders. A job returns to the head of the
-- queue, `allowed` times at most, and then goes to the failed ones.
-- Answers the ids that returned, those that failed, and how many leases had run out.
local ids = redis.call('ZRANGEBYSCORE', deadlines, '-inf', now, 'LIMIT', '0', most)
if #ids == 0 then return {{}, {}, 0} end
local texts, before = lookUp(inProgress, ids), lookUp(attempts, ids)

local returned, back, expiries, given, failures, reasons = {}, {}, {}, {}, {}, {}
for n, id in ipairs(ids) do
  local text = texts[n]
  if text then
    local times = (tonumber(before[n]) or 0) + 1
    local readable, kind = read(text)
    if readable and times <= allowed then
      count('waiting', kind, 1)
      returned[#returned + 1] = id
      back[#back + 1] = text
      expiries[#expiries + 1] = id
      expiries[#expiries + 1] = times
    else
      count('failed', kind, 1)
      given[#given + 1] = id
      failures[#failures + 1] = id
      failures[#failures + 1] = remains(text)
      reasons[#reasons + 1] = id
      reasons[#reasons + 1] = 'the lease ran out ' .. times .. (times == 1 and ' time' or ' times')
    end
  end
end

local problem = settle()
if problem then return problem end
batch('HSET', failed, failures)
if keepErrors then batch('HSET', errors, reasons) end
batch('HSET', attempts, expiries)
batch('HDEL', attempts, given)
putBack(back)
batch('HDEL', inProgress, ids)
batch('HDEL', holders, ids)
batch('ZREM', deadlines, ids)
return {returned, given, #ids}

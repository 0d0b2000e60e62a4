-- turn.lua. One turn of a worker: the jobs it finished leave its hands and the next `take` come into them, in one step.
-- `items` holds four texts for each finished job: what becomes of it ('completed', 'failed', 'released'), its id, the
-- result or the error, and what it adds to the counters of `also`, as 'name amount name amount'.
-- Only the holder moves a job: any other is answered 'not-held', or 'already-done', and nothing about it changes.
-- The new place of a job is written before the old one is cleared, so that no failure in between could lose it.
-- Answers the outcomes, and id, text for each job taken.
local ids = {}
for i = 2, #items, 4 do ids[#ids + 1] = items[i] end
local held, texts = lookUp(holders, ids), lookUp(inProgress, ids)

-- Text, since a number is dear for Lua to hand on.
local at, lease = string.format('%.0f', now), string.format('%.0f', now + leaseMs)
local outcomes, moves = {}, {}
local ended, released, results, times, failures, reasons, back = {}, {}, {}, {}, {}, {}, {}
for n, id in ipairs(ids) do
  local outcome, text = items[n * 4 - 3], texts[n]
  if held[n] ~= worker or not text or moves[id] then
    local isDone = moves[id] == 'completed' or (keepDone > 0 and redis.call('HEXISTS', done, id) == 1)
    outcomes[n] = isDone and 'already-done' or 'not-held'
  else
    moves[id] = outcome
    outcomes[n] = outcome
    local kind
    if by ~= '' then
      local _
      _, kind = read(text)
    end
    for name, amount in string.gmatch(items[n * 4], '(%S+) (%S+)') do count('also', name, tonumber(amount)) end
    if outcome == 'completed' then
      count('done', kind, 1)
      ended[#ended + 1] = id
      results[#results + 1] = id
      results[#results + 1] = items[n * 4 - 1]
      times[#times + 1] = at
      times[#times + 1] = id
    elseif outcome == 'failed' then
      count('failed', kind, 1)
      ended[#ended + 1] = id
      failures[#failures + 1] = id
      failures[#failures + 1] = remains(text)
      reasons[#reasons + 1] = id
      reasons[#reasons + 1] = items[n * 4 - 1]
    else
      count('waiting', kind, 1)
      released[#released + 1] = id
      back[#back + 1] = text
    end
  end
end

local upcoming = take > 0 and redis.call('LRANGE', waiting, '0', take - 1) or {}
local taken, running, holding, leases = {}, {}, {}, {}
for _, text in ipairs(upcoming) do
  local id, kind = read(text)
  count('waiting', kind, -1)
  if id then
    taken[#taken + 1] = id
    taken[#taken + 1] = text
    running[#running + 1] = id
    running[#running + 1] = text
    holding[#holding + 1] = id
    holding[#holding + 1] = worker
    leases[#leases + 1] = lease
    leases[#leases + 1] = id
  else
    id = 'unreadable-' .. redis.sha1hex(text)
    count('failed', kind, 1)
    failures[#failures + 1] = id
    failures[#failures + 1] = text
    reasons[#reasons + 1] = id
    reasons[#reasons + 1] = 'the job names no id'
  end
end

local problem = settle()
if problem then return problem end

if keepDone > 0 and #results > 0 then
  batch('HSET', done, results)
  batch('ZADD', finished, times)
end
batch('HSET', failed, failures)
if keepErrors then batch('HSET', errors, reasons) end
if #ended > 0 then
  batch('HDEL', inProgress, ended)
  batch('HDEL', holders, ended)
  batch('ZREM', deadlines, ended)
  batch('HDEL', attempts, ended)
end
if #upcoming > 0 then
  batch('HSET', inProgress, running)
  batch('HSET', holders, holding)
  batch('ZADD', deadlines, leases)
  redis.call('LTRIM', waiting, #upcoming, '-1')
end
if #back > 0 then
  putBack(back)
  batch('HDEL', inProgress, released)
  batch('HDEL', holders, released)
  batch('ZREM', deadlines, released)
end

-- The newest results stay. What other programs left in the hash has no time of finishing and goes first, bit by bit.
if keepDone > 0 and #results > 0 then
  local surplus = redis.call('HLEN', done) - keepDone
  if surplus > 0 then
    local timed = redis.call('ZCARD', finished)
    local over, stale = timed - keepDone, {}
    if over > 0 then
      local oldest = redis.call('ZPOPMIN', finished, over)
      for i = 1, #oldest, 2 do stale[#stale + 1] = oldest[i] end
    end
    local untimed = surplus - math.max(over, 0)
    if untimed > 0 then
      for _, id in ipairs(redis.call('HRANDFIELD', done, math.min(4 * untimed + 10, 1000))) do
        if #stale < surplus and not redis.call('ZSCORE', finished, id) then stale[#stale + 1] = id end
      end
    end
    batch('HDEL', done, stale)
  end
end
return {outcomes, taken}

--@include include/many.lua
--@include include/job.lua
-- turn.lua. One turn of a worker: the jobs that it finished leave its hands, leases that ran out end, and the next `take`
-- jobs come into its hands, in one step.
-- `items` holds four texts for each finished job: its outcome ('completed', 'failed', 'released'), its id, the result or
-- the error, and the amounts for the counters of `also`, as 'name amount name amount'.
-- Only the holder moves a job: for any other the outcome is 'not-held' or 'already-done', and nothing changes.
-- Up to `most` leases that ran out end in every turn. Their jobs go to the head of the queue, before the turn takes jobs.
-- A lease counts as an attempt if its worker is known to have had the job: its deadline is an even number then, and odd
-- until then. Others are counted apart, in the field '<id> unheard', and `unheard` of them are allowed.
-- A job whose id is in progress already stays at the head of the queue until the other one has ended.
-- The script reads first, then proves what could stop it, then writes.
-- Answers the outcomes; id, text for each job taken; the ids that returned; those that failed; how many leases ran out.
local ids = {}
for i = 2, #items, 4 do ids[#ids + 1] = items[i] end
local held, texts = lookUp(holders, ids), lookUp(inProgress, ids)

-- Text, since a number is dear for Lua to hand on.
local at, lease = string.format('%.0f', now), string.format('%.0f', now + leaseMs - 1 + (now + leaseMs) % 2)
local outcomes, moves = {}, {}
-- Ids that leave the hands of their holder; those of them that end; an id and its text that stand in progress.
local left, ended, known, knownText = {}, {}, nil, nil
local results, failures, reasons, back = {}, {}, {}, {}
for n, id in ipairs(ids) do
  local outcome, text = items[n * 4 - 3], texts[n]
  if held[n] ~= worker or not text or moves[id] then
    local isDone = moves[id] == 'completed' or (keepCompleted > 0 and redis.call('HEXISTS', done, id) == 1)
    outcomes[n] = isDone and 'already-done' or 'not-held'
  else
    moves[id] = outcome
    outcomes[n] = outcome
    left[#left + 1] = id
    known, knownText = id, text
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
    elseif outcome == 'failed' then
      count('failed', kind, 1)
      ended[#ended + 1] = id
      failures[#failures + 1] = id
      failures[#failures + 1] = remains(text)
      reasons[#reasons + 1] = id
      reasons[#reasons + 1] = items[n * 4 - 1]
    else
      count('waiting', kind, 1)
      back[#back + 1] = text
    end
  end
end

-- Jobs that come into the worker's hands.
local taken, running, holding, leases, handed = {}, {}, {}, {}, {}
local wanted = take
local function hand(id, text)
  wanted = wanted - 1
  handed[id] = true
  taken[#taken + 1] = id
  taken[#taken + 1] = text
  running[#running + 1] = id
  running[#running + 1] = text
  holding[#holding + 1] = id
  holding[#holding + 1] = worker
  leases[#leases + 1] = lease
  leases[#leases + 1] = id
end

local expired, fields = {}, {}
local over = redis.call('ZRANGEBYSCORE', deadlines, '-inf', at, 'WITHSCORES', 'LIMIT', '0', most)
for i = 1, #over, 2 do
  if not moves[over[i]] then
    expired[#expired + 1] = over[i]
    fields[#expired] = tonumber(over[i + 1]) % 2 == 0 and over[i] or over[i] .. ' unheard'
  end
end
local expiredTexts, before = lookUp(inProgress, expired), lookUp(attempts, fields)
local returned, expiries, given = {}, {}, {}
for n, id in ipairs(expired) do
  local text = expiredTexts[n]
  moves[id] = 'expired'
  if not text then
    left[#left + 1] = id
  else
    known, knownText = id, text
    local times = (tonumber(before[n]) or 0) + 1
    local isHeard = fields[n] == id
    local readable, kind = read(text)
    if readable and times <= (isHeard and allowed or unheard) then
      returned[#returned + 1] = id
      expiries[#expiries + 1] = fields[n]
      expiries[#expiries + 1] = times
      if wanted > 0 then
        hand(id, text)
      else
        count('waiting', kind, 1)
        left[#left + 1] = id
        back[#back + 1] = text
      end
    else
      count('failed', kind, 1)
      left[#left + 1] = id
      ended[#ended + 1] = id
      given[#given + 1] = id
      failures[#failures + 1] = id
      failures[#failures + 1] = remains(text)
      reasons[#reasons + 1] = id
      reasons[#reasons + 1] = 'the lease ran out ' .. times .. (times == 1 and ' time' or ' times') ..
        (isHeard and '' or ', and no worker was heard to have the job')
    end
  end
end

-- The head of the queue, until enough jobs were found or `spare` were passed over.
local looked, spare, stays, nameless = 0, 1000, {}, {}
while wanted > 0 and spare > 0 do
  local upcoming = redis.call('LRANGE', waiting, looked, looked + wanted - 1)
  if #upcoming == 0 then break end
  looked = looked + #upcoming
  local found, kinds = {}, {}
  for n, text in ipairs(upcoming) do
    local id, kind = read(text)
    found[n], kinds[n] = id or '', kind or false
  end
  local others = lookUp(inProgress, found)
  for n, text in ipairs(upcoming) do
    local id, kind = found[n], kinds[n]
    if id == '' then
      spare = spare - 1
      count('waiting', kind, -1)
      id = 'unreadable-' .. redis.sha1hex(text)
      nameless[#nameless + 1] = id
      count('failed', kind, 1)
      failures[#failures + 1] = id
      failures[#failures + 1] = text
      reasons[#reasons + 1] = id
      reasons[#reasons + 1] = 'the job names no id'
    elseif handed[id] or others[n] or moves[id] then
      spare = spare - 1
      stays[#stays + 1] = text
    else
      count('waiting', kind, -1)
      hand(id, text)
    end
  end
end
for _, text in ipairs(stays) do back[#back + 1] = text end

-- Room for the results: the newest stay. Those that other programs left have no time of finishing and go first, bit by bit.
local stale = {}
if keepCompleted > 0 and #results > 0 then
  if #results > keepCompleted * 2 then
    local newest = {}
    for i = #results - keepCompleted * 2 + 1, #results do newest[#newest + 1] = results[i] end
    results = newest
  end
  local kept, timed = prove('HLEN', done), prove('ZCARD', finished)
  if not problem then
    local surplus = kept + #results / 2 - keepCompleted
    local oldest = math.max(0, timed + #results / 2 - keepCompleted)
    local isNew = {}
    for i = 1, #results, 2 do isNew[results[i]] = true end
    if oldest > 0 then
      for _, id in ipairs(redis.call('ZRANGE', finished, '0', oldest - 1)) do
        if not isNew[id] then stale[#stale + 1] = id end
      end
    end
    local untimed = surplus - #stale
    if untimed > 0 and kept > 0 then
      for _, id in ipairs(redis.call('HRANDFIELD', done, math.min(4 * untimed + 10, 1000))) do
        if #stale < surplus and not isNew[id] and not redis.call('ZSCORE', finished, id) then stale[#stale + 1] = id end
      end
    end
  end
end

-- Types: the reads above have proven those of the keys that they read.
local attempted = (#ended > 0 or #expiries > 0) and prove('HLEN', attempts) or 0
weigh()
if #ids == 0 and #leases + #left > 0 then prove('HLEN', holders) end
if #failures > 0 then
  prove('HLEN', failed)
  if keepErrors then prove('HLEN', errors) end
end
-- Permissions: if a command is refused below, what is written stays. The order of the writes is such that this is harmless
-- (a lease or a holder of no job, a result of a job in progress), if those are proven that would move a job or a counter
-- halfway. A push can only be proven by a push that is taken back.
local size = #back > 0 and prove('LLEN', waiting)
if #back > 0 or #failures > 0 then
  if known then prove('HSET', inProgress, known, knownText) end
  prove('HDEL', inProgress, '')
  prove('LTRIM', waiting, '0', '-1')
  if #back > 0 and not problem then
    prove('LPUSH', waiting, '')
    if not problem then redis.call('LTRIM', waiting, '1', '-1') end
  end
elseif #steps > 0 and #left > 0 then
  prove('HDEL', inProgress, '')
end
if #steps > 0 then prove('INCRBY', steps[1][1], '0') end
if problem then return redis.error_reply(problem) end

batch('ZADD', deadlines, leases)
batch('HSET', holders, holding)
if keepCompleted > 0 and #results > 0 then
  local times = {}
  for i = 1, #results, 2 do
    times[#times + 1] = at
    times[#times + 1] = results[i]
  end
  batch('HSET', done, results)
  batch('ZADD', finished, times)
end
batch('HSET', failed, failures)
if keepErrors then batch('HSET', errors, reasons) end
batch('HSET', attempts, expiries)
if looked > 0 then redis.call('LTRIM', waiting, looked, '-1') end
batch('HSET', inProgress, running)
if #back > 0 then
  local reversed = {}
  for i = #back, 1, -1 do reversed[#reversed + 1] = back[i] end
  batch('LPUSH', waiting, reversed)
  if size == looked then redis.pcall('PUBLISH', waiting, #back) end
end
batch('HDEL', inProgress, left)
settle()
batch('HDEL', holders, left)
batch('ZREM', deadlines, left)
batch('HDEL', done, stale)
batch('ZREM', finished, stale)
if attempted + #expiries > 0 then
  batch('HDEL', attempts, ended)
  for i, id in ipairs(ended) do ended[i] = id .. ' unheard' end
  batch('HDEL', attempts, ended)
end
return {outcomes, taken, returned, given, #over / 2, nameless}

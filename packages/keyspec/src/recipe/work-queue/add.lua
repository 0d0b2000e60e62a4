--@include include/many.lua
--@include include/job.lua
-- add.lua. Puts jobs at the tail of the queue, giving each its id in the same step.
-- `items` holds two texts for each job: its unique name ('' for none), and the job: if `numbered`, its text behind the
-- id, which `head` begins and the sequence numbers; else its whole text.
-- A job whose name is known is not queued again; nor is anything of a call whose `token` is known. Both are kept in
-- `recent`, scored by the id that was given then (by the time, if jobs give their ids): the newest `dedupeWindow` of them.
-- A token is kept as '\1token:<step>:<token>'. A name is kept as it is, for programs of the previous version, and as
-- '\1unique:<name>', which tells it from a token that the previous version kept as it is.
-- Answers how many were new, then the ids: the first alone if all came at once and in order, else one for each job.
local size = #items / 2
local marked = '\1token:' .. step .. ':' .. token
if token ~= '' then
  local first = redis.call('ZSCORE', recent, marked)
  if not first and string.sub(token, 1, 1) ~= '\1' then
    local plain = step == '0' and token or token .. '#' .. step
    first = redis.call('ZSCORE', recent, plain)
    if first and redis.call('ZSCORE', recent, '\1unique:' .. plain) then first = false end
  end
  if first then return {0, first} end
end

local fresh, known = {}, {}
local same = {}
for n = 1, size do
  local name = items[n * 2 - 1]
  local member = string.sub(name, 1, 1) == '\1' and '\1unique:' .. name or name
  local score = name ~= '' and (same[name] or redis.call('ZSCORE', recent, member))
  if score then
    known[n] = score
  else
    fresh[#fresh + 1] = n
    if name ~= '' then same[name] = {#fresh} end
  end
end

local score = string.format('%.0f', now)
local first = 0
if numbered and #fresh > 0 then
  first = counted(sequence) + 1
  if first + #fresh > 9007199254740991 then
    problem = problem or 'ERR the sequence would leave the range of whole numbers (' .. sequence .. ')'
  end
end
local texts, remembered, ids = {}, {}, {}
local function keep(member)
  remembered[#remembered + 1] = score
  remembered[#remembered + 1] = member
end
for place, n in ipairs(fresh) do
  local name, text = items[n * 2 - 1], items[n * 2]
  if numbered then
    score = string.format('%.0f', first + place - 1)
    text = head .. score .. text
  end
  if place == 1 and token ~= '' then keep(marked) end
  if by ~= '' then
    local _, kind = read(text)
    count('waiting', kind, 1)
  end
  texts[place] = text
  ids[n] = score
  if name ~= '' then
    keep('\1unique:' .. name)
    if string.sub(name, 1, 1) ~= '\1' then keep(name) end
  end
end

if #fresh > 0 then
  local before = prove('LLEN', waiting)
  weigh()
  if #remembered > 0 then
    prove('ZADD', recent, 'XX', '0', '')
    prove('ZREMRANGEBYRANK', recent, '1', '0')
  end
  if numbered then prove('INCRBY', sequence, '0') end
  if #steps > 0 then prove('INCRBY', steps[1][1], '0') end
  if problem then return redis.error_reply(problem) end
  -- Nothing but a push can prove a push, so it is the first to write.
  batch('RPUSH', waiting, texts)
  settle()
  if numbered then redis.call('INCRBY', sequence, #fresh) end
  if #remembered > 0 then
    batch('ZADD', recent, remembered)
    redis.call('ZREMRANGEBYRANK', recent, '0', -2 * dedupeWindow - 1)
  end
  if before == 0 then redis.pcall('PUBLISH', waiting, #texts) end
end
if #fresh == size then return {#fresh, string.format('%.0f', first)} end
local answer = {#fresh}
for n = 1, size do
  local id = known[n] or ids[n]
  if type(id) == 'table' then id = ids[fresh[id[1]]] end
  answer[n + 1] = tostring(id)
end
return answer

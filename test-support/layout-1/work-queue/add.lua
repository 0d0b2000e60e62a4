-- add.lua. Puts jobs at the tail of the queue, giving each its id in the same step.
-- `items` holds two texts for each job: what it is recognised by ('' for nothing), and the job: where `numbered`, its
-- text behind the id, which `head` begins and the sequence numbers; else its whole text.
-- A job that is recognised is not queued again; nor is anything of a call whose `token` is: both are kept in `recent`,
-- scored by the id that was given then (by the time, where ids are given), the newest `remember` of them.
-- Answers how many were new, then the ids: the first alone where all came at once and in order, else one for each job.
local size = #items / 2
if token ~= '' then
  local first = redis.call('ZSCORE', recent, token)
  if first then return {0, first} end
end

local fresh, known = {}, {}
local same = {}
for n = 1, size do
  local key = items[n * 2 - 1]
  local score = key ~= '' and (same[key] or redis.call('ZSCORE', recent, key))
  if score then
    known[n] = score
  else
    fresh[#fresh + 1] = n
    if key ~= '' then same[key] = {#fresh} end
  end
end

local score = now
local first = 0
if numbered and #fresh > 0 then
  first = redis.call('INCRBY', sequence, #fresh) - #fresh + 1
end
local texts, remembered, ids = {}, {}, {}
for place, n in ipairs(fresh) do
  local text = items[n * 2]
  if numbered then
    score = string.format('%.0f', first + place - 1)
    text = head .. score .. text
  end
  if by ~= '' then
    local _, kind = read(text)
    count('waiting', kind, 1)
  end
  texts[place] = text
  ids[n] = score
  if items[n * 2 - 1] ~= '' then
    remembered[#remembered + 1] = score
    remembered[#remembered + 1] = items[n * 2 - 1]
  end
end
if token ~= '' and #fresh > 0 then
  remembered[#remembered + 1] = numbered and string.format('%.0f', first) or now
  remembered[#remembered + 1] = token
end

local problem = settle()
if problem then return problem end
if #remembered > 0 then
  batch('ZADD', recent, remembered)
  redis.call('ZREMRANGEBYRANK', recent, '0', -remember - 1)
end
if #texts > 0 then
  local before = redis.call('LLEN', waiting)
  batch('RPUSH', waiting, texts)
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

--@include include/many.lua
--@include include/job.lua
-- recount.lua. Sets the counters of waiting jobs to what waits: for a queue that older programs have written, whose
-- counters drifted. Walks the whole list in one step. Answers how many counters were wrong.
local size = redis.call('LLEN', waiting)
if size > most then return -size end
for from = 0, size - 1, 1000 do
  for _, text in ipairs(redis.call('LRANGE', waiting, from, from + 999)) do
    local _, kind = read(text)
    count('waiting', kind, 1)
  end
end
local at, wrong = 0, {}
for name in string.gmatch(tallied, '%S+') do
  at = at + 1
  if string.sub(name, 1, 8) == 'waiting:' then
    local truth = string.format('%.0f', moved[name] or 0)
    local stands = prove('GET', counters[at])
    if problem then return redis.error_reply(problem) end
    if (stands or '0') ~= truth then wrong[#wrong + 1] = {counters[at], truth} end
  end
end
for _, pair in ipairs(wrong) do redis.call('SET', pair[1], pair[2]) end
return #wrong

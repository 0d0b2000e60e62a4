-- recount.lua. Sets the counters of waiting jobs to what waits: for a queue that older programs have written, whose
-- counters drifted. Walks the whole list in one step. Answers how many counters were wrong.
local size = redis.call('LLEN', waiting)
for from = 0, size - 1, 1000 do
  for _, text in ipairs(redis.call('LRANGE', waiting, from, from + 999)) do
    local _, kind = read(text)
    count('waiting', kind, 1)
  end
end
local at, wrong = 0, 0
for name in string.gmatch(tallied, '%S+') do
  at = at + 1
  if string.sub(name, 1, 8) == 'waiting:' then
    local truth = string.format('%.0f', moved[name] or 0)
    if (redis.call('GET', tallies[at]) or '0') ~= truth then
      redis.call('SET', tallies[at], truth)
      wrong = wrong + 1
    end
  end
end
return wrong

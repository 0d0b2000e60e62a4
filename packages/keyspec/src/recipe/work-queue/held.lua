--@include include/many.lua
-- held.lua. One step over all jobs in progress, about `size` of them from `cursor` on: those that the worker holds, each
-- with its lease begun anew. Answers the next cursor ('0' at the end), and id, text, the deadline until now for each.
-- Whether the worker is known to have a job does not change, since this answer can be lost too.
local deadline = now + leaseMs
local page = redis.call('HSCAN', holders, cursor, 'COUNT', size)
local ids, answer, leases = {}, {page[1]}, {}
for i = 1, #page[2], 2 do
  if page[2][i + 1] == worker then ids[#ids + 1] = page[2][i] end
end
for n, text in ipairs(lookUp(inProgress, ids)) do
  if text then
    local score = redis.call('ZSCORE', deadlines, ids[n]) or ''
    local isHeard = score ~= '' and tonumber(score) % 2 == 0
    leases[#leases + 1] = string.format('%.0f', isHeard and deadline - deadline % 2 or deadline - 1 + deadline % 2)
    leases[#leases + 1] = ids[n]
    answer[#answer + 1] = ids[n]
    answer[#answer + 1] = text
    answer[#answer + 1] = score
  end
end
batch('ZADD', deadlines, leases)
return answer

--@include include/many.lua
-- confirm.lua. Notes that a worker is known to have jobs, so that their leases count as attempts if they run out: their
-- deadlines become even numbers (see turn.lua). Answers how many did.
local leases = {}
for n, holder in ipairs(lookUp(holders, ids)) do
  local score = holder == worker and redis.call('ZSCORE', deadlines, ids[n])
  if score and tonumber(score) % 2 == 1 then
    leases[#leases + 1] = string.format('%.0f', score + 1)
    leases[#leases + 1] = ids[n]
  end
end
batch('ZADD', deadlines, leases)
return #leases / 2

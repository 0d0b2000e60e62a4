--@include include/many.lua
-- renew.lua. Starts the lease of jobs anew, of those that the worker holds; answers 1 for each of these, else 0.
-- The worker names them, so it is known to have them: an even number (see turn.lua).
local deadline = string.format('%.0f', now + leaseMs - (now + leaseMs) % 2)
local answers, leases = {}, {}
for n, holder in ipairs(lookUp(holders, ids)) do
  answers[n] = holder == worker and 1 or 0
  if holder == worker then
    leases[#leases + 1] = deadline
    leases[#leases + 1] = ids[n]
  end
end
batch('ZADD', deadlines, leases)
return answers

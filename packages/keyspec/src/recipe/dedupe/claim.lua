-- claim.lua. Adds each candidate that is not in the set yet, in order, until `most` were added, and gives the set its
-- lifetime in the same step. Answers the places (from 1) of those that were added.
local claimed = {}
for place, candidate in ipairs(candidates) do
  if #claimed == most then break end
  if redis.call('SADD', key, candidate) == 1 then claimed[#claimed + 1] = place end
end
--@include ../../script/include/give-lifetime.lua
return claimed

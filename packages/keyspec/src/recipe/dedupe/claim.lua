-- claim.lua. Adds each candidate that is not in the set yet, in order, until `most` were added, and gives the set its
-- lifetime in the same step. Answers the places (from 1) of those that were added.
-- renew 'creation': the lifetime is set only where the set has none, be it new or never given one.
local claimed = {}
for place, candidate in ipairs(candidates) do
  if #claimed == most then break end
  if redis.call('SADD', key, candidate) == 1 then claimed[#claimed + 1] = place end
end
if ttlMs ~= '0' and (renew ~= 'creation' or redis.call('PTTL', key) == -1) then redis.call('PEXPIRE', key, ttlMs) end
return claimed

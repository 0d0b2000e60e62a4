-- take-members.lua. Takes up to `count` members from a set, if so many of those that the caller has read are still there.
-- Answers {1, the members}, or {0, up to `most` members at random}: then nothing was done.
local found = {}
for i = 1, #read do
  if #found == count then break end
  if redis.call('SISMEMBER', key, read[i]) == 1 then found[#found + 1] = read[i] end
end
if #found < count and #found < redis.call('SCARD', key) then return {0, redis.call('SRANDMEMBER', key, most)} end
for i = 1, #found do redis.call('SREM', key, found[i]) end
return {1, found}

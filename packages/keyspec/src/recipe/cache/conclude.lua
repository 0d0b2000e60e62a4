-- conclude.lua. Leaves the `outcome` of a load that wrote nothing in place of its lock for `ttlMs`, if the lock is still its
-- owner's, and wakes who waits for it. Answers whether it was. Without room for the outcome the lock is given back.
if redis.call('GET', lock) ~= owner then return 0 end
local left = redis.pcall('SET', lock, outcome, 'PX', ttlMs)
if left.err then redis.call('DEL', lock) end
if wake then redis.pcall('PUBLISH', lock, '') end -- not everyone may publish; those who wait ask again anyway
return 1

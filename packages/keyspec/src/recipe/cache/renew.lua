-- renew.lua. Starts the lock's lifetime anew, if it is still its owner's. Answers whether it is.
if redis.call('GET', lock) ~= owner then return 0 end
return redis.call('PEXPIRE', lock, ttlMs)

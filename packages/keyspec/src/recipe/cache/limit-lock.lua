-- limit-lock.lua. Gives the lock a time to live if another program left it without. Answers whether it did.
if redis.call('PTTL', lock) ~= -1 then return 0 end
return redis.call('PEXPIRE', lock, ttlMs)

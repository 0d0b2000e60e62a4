-- extend.lua. Lets the lock end this long from now, if it is still the token's. Answers whether it is.
if redis.call('GET', key) ~= token then return 0 end
return redis.call('PEXPIRE', key, ttlMs)

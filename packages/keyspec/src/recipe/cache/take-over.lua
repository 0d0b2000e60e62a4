-- take-over.lua. Makes the lock its new `owner`'s if it holds nothing but that `outcome` of an earlier load. Answers whether
-- it did.
if redis.call('GET', lock) ~= outcome then return 0 end
redis.call('SET', lock, owner, 'PX', ttlMs)
return 1

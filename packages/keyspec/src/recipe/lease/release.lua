-- release.lua. Gives the lock back if it is still the token's, and wakes who waits for it. Answers whether it was.
if redis.call('GET', key) ~= token then return 0 end
redis.call('DEL', key)
if wake then redis.pcall('PUBLISH', key, '') end -- not everyone may publish; those who wait ask again anyway
return 1

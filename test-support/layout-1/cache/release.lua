-- release.lua. Gives the lock back, if it is still its owner's, and wakes who waits for it. Answers whether it was.
if redis.call('GET', lock) ~= owner then return 0 end
redis.call('DEL', lock)
if wake then redis.pcall('PUBLISH', lock, '') end -- not everyone may publish; those who wait ask again anyway
return 1

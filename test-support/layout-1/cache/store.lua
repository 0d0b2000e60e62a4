-- store.lua. Writes what was loaded, if its loader still holds the `lock` (where that shares a slot with the entry, else it
-- was asked before) and the entry still is what the loader found: `seen`, or nothing where not `present`. So a loader that
-- stood still too long overwrites nothing newer, and brings nothing back that was deleted meanwhile.
-- Gives the lock back in the same step. Answers whether it wrote.
local held = lock[1]
if held and redis.call('GET', held) ~= owner then return 0 end
local stored = 0
if redis.call('GET', entry) == (present and seen) then
  if ttlMs ~= '0' then redis.call('SET', entry, value, 'PX', ttlMs) else redis.call('SET', entry, value) end
  stored = 1
end
if held then
  redis.call('DEL', held)
  if wake then redis.pcall('PUBLISH', held, '') end -- not everyone may publish; those who wait ask again anyway
end
return stored

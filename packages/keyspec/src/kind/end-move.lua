-- end-move.lua. Ends a move: deletes what was set aside, or gives it its name back (`back`) unless a value stands there;
-- then it stays aside, for a move of its own. Does nothing once another move has begun. Answers whether it did.
if redis.call('HGET', marker, 'away') ~= token then return 0 end
if not back then return redis.call('UNLINK', aside) end
if redis.call('EXISTS', aside) == 0 then return 0 end
if redis.call('EXISTS', from) == 1 then
  redis.call('HSET', marker, 'away', '')
  return 0
end
redis.call('RENAME', aside, from)
return 1

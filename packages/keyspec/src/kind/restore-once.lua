-- restore-once.lua. Creates a key from the DUMP of a move, unless `marker` says that this move did so before: what was
-- taken out of the key since must not come back. Answers 1 if the move has created it. Answers 0 if another value stands
-- there; this move then never creates the key, however late another mover comes.
local before = redis.call('HGET', marker, token)
if before then return tonumber(before) end
if redis.call('EXISTS', to) == 1 then
  redis.call('HSET', marker, token, '0')
  return 0
end
redis.call('RESTORE', to, endsAt, dump, 'ABSTTL')
redis.call('HSET', marker, token, '1')
redis.call('HDEL', marker, 'away')
return 1

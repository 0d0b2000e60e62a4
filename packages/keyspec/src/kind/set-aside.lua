-- set-aside.lua. Renames a key aside within its slot, on its way to a name in another slot, and says so at `marker`.
-- Goes on with what another mover set aside. Answers the token of the move, the value as DUMP gives it, and the instant
-- at which it ends, in ms since the epoch (0: never); nil if there is nothing to move.
local own = redis.call('HGET', marker, 'away')
if redis.call('EXISTS', aside) == 0 then
  if redis.call('EXISTS', from) == 0 then return false end
  redis.call('RENAME', from, aside)
  own = false
end
if not own or own == '' then
  own = token
  redis.call('HSET', marker, 'away', own)
end
local dump = redis.call('DUMP', aside)
-- Since Redis 7 the server says it exactly.
local ends = redis.pcall('PEXPIRETIME', aside)
if type(ends) == 'number' then return {own, dump, math.max(0, ends)} end
-- Redis 6.2 lets its clock run while a script does: both are of one instant if no millisecond ended between.
local function clock()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end
local at, left
repeat
  at = clock()
  left = redis.call('PTTL', aside)
until left < 0 or clock() == at
return {own, dump, left < 0 and 0 or at + left}

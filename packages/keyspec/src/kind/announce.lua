-- announce.lua. Notes that programs at this phase of a rename use the keys of `pattern` now, in the sorted set `register` of
-- '<phase> <pattern>' by the instant of the last use. Answers the phase of other programs that may not run beside this
-- one, and notes nothing then; else 0. What was not used for `leaseMs` is forgotten.
local since = now - leaseMs
for other = 1, 3 do
  local seen = redis.call('ZSCORE', register, other .. ' ' .. pattern)
  if math.abs(other - phase) > 1 and seen and tonumber(seen) > since then return other end
end
redis.call('ZADD', register, string.format('%.0f', now), phase .. ' ' .. pattern)
redis.call('ZREMRANGEBYSCORE', register, '-inf', string.format('%.0f', since))
redis.call('PEXPIRE', register, string.format('%.0f', leaseMs))
return 0

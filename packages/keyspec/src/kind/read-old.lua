-- read-old.lua. What an old key holds, as DUMP has it, and the instant at which it ends in ms since the epoch, 0 for never;
-- nil where there is none. Both in one step: a time to live asked for by itself would be of another instant.
local dump = redis.call('DUMP', old)
if not dump then return false end
-- Since Redis 7 the server says it exactly.
local ends = redis.pcall('PEXPIRETIME', old)
if type(ends) == 'number' then return {dump, math.max(0, ends)} end
local left = redis.call('PTTL', old)
return {dump, left < 0 and 0 or now + left}

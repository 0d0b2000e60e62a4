-- read-old.lua. What an old key holds, as DUMP has it, and the instant at which it ends in ms since the epoch, 0 for never;
-- nil where there is none. Both in one step: a time to live asked for by itself would be of another instant.
local dump = redis.call('DUMP', old)
if not dump then return false end
local left = redis.call('PTTL', old)
if left < 0 then return {dump, 0} end
return {dump, now + left}

-- create-group.lua. XGROUP CREATE, which makes the stream where there is none: with its lifetime, in the same step.
-- Answers 1, or 0 where the group is there already.
local made = redis.pcall('XGROUP', 'CREATE', key, group, from, 'MKSTREAM')
if made.err then
  if string.find(made.err, 'BUSYGROUP', 1, true) then return 0 end
  return made
end
local renew = 'creation' -- a group of a stream that is there is no write
--@include ../script/include/give-lifetime.lua
return 1

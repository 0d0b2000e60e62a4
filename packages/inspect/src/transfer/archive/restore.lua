-- Restores `keys` from `packed`, which has for each of them, in their order, its expiry in ms since the epoch or 0 (a
-- double), the length of its dump (u32) and the dump, little-endian, as dump.lua packs them. One that fails does not
-- stop the others. Answers { place from 1, error, … } for those that were not restored: BUSYKEY where the key is there
-- and is not to be replaced.
local failed, n, at = {}, 0, 1
for index, key in ipairs(keys) do
  local expires, length
  expires, length, at = struct.unpack('<dI4', packed, at)
  local dump = string.sub(packed, at, at + length - 1)
  at = at + length
  local command = {'RESTORE', key, string.format('%.0f', expires), dump, 'ABSTTL'}
  if replace then command[6] = 'REPLACE' end
  local done = redis.pcall(unpack(command))
  if done.err then failed[n + 1], failed[n + 2], n = index, done.err, n + 2 end
end
return failed

-- Dumps keys one after another into one text, and stops once `budget` bytes are there: whoever asks asks again for the
-- rest, so a reply is never much longer than the budget or the largest value. Which keys: those declared as `keys`; or
-- `names`, which a node of a cluster holds in several slots, so that they cannot be declared; or those that SCAN finds
-- from `cursor` on.
-- Answers { next cursor, text, name, … }, the names only of those that were found. The text has for each key, in their
-- order, its expiry in ms since the epoch or 0 (a double), the length of its dump (u32) and the dump, as they are at
-- this one moment, little-endian. The length is 0 for a key that is gone, and 2^32 - 1 for one that this node cannot
-- speak for, because its slot is moving.
local answer, found = {'', ''}, #keys > 0 and keys or names
if cursor ~= '' then
  local step = {'SCAN', cursor, 'COUNT', count}
  if match ~= '' then step[5], step[6] = 'MATCH', match end
  local scanned = redis.call(unpack(step))
  answer[1], found = scanned[1], scanned[2]
  for index, key in ipairs(found) do answer[index + 2] = key end
end
local pieces, n, given = {}, 0, 0
-- Since Redis 7 the server says it to the millisecond, and in one command.
local isExact = true
local function now()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end
for _, key in ipairs(found) do
  if given >= budget then break end
  local dump, expires = redis.pcall('DUMP', key), 0
  if type(dump) == 'table' then
    -- A declared key was asked for where it should be: this error is the answer.
    if #keys > 0 then return dump end
    n = n + 1
    pieces[n] = struct.pack('<dI4', 0, 4294967295)
  elseif not dump then
    n = n + 1
    pieces[n] = struct.pack('<dI4', 0, 0)
  else
    if isExact then
      local at = redis.pcall('PEXPIRETIME', key)
      isExact = type(at) == 'number'
      if isExact and at > 0 then expires = at end
    end
    if not isExact then
      -- Redis 6.2 lets its clock run while a script does: both are of one instant where no millisecond ended between.
      local before, left
      repeat
        before = now()
        left = redis.call('PTTL', key)
      until left < 0 or now() == before
      if left >= 0 then expires = before + left end
    end
    given = given + #dump
    pieces[n + 1], pieces[n + 2], n = struct.pack('<dI4', expires, #dump), dump, n + 2
  end
end
answer[2] = table.concat(pieces)
return answer

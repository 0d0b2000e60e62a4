-- Dumps `keys` one after another, and stops once `budget` bytes are there: whoever asks asks again for the rest, so a
-- reply is never much longer than the budget or the largest value. Answers { type, expiry, dump, … }, the three as they
-- are at this one moment: the expiry in ms since the epoch or 0, and type '' for a key that is gone.
local answer, n, given = {}, 0, 0
-- Since Redis 7 the server says it to the millisecond.
local isExact = type(redis.pcall('PEXPIRETIME', keys[1])) == 'number'
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
for _, key in ipairs(keys) do
  if given >= budget then break end
  local dump = redis.call('DUMP', key)
  local expires = 0
  if dump then
    local left = redis.call('PTTL', key)
    if left >= 0 then expires = isExact and redis.call('PEXPIRETIME', key) or now + left end
    given = given + #dump
  end
  answer[n + 1], answer[n + 2], answer[n + 3] = dump and redis.call('TYPE', key).ok or '', expires, dump or ''
  n = n + 3
end
return answer

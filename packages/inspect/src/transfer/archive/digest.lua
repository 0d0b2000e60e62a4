-- What `keys` hold, without the values: { type, PTTL, digest, … }, type '' for a key that is gone. The digest of a string
-- is that of its bytes; of any other type that of its DUMP without version and checksum, so that equal digests mean equal
-- values, and different ones may be one value in two encodings. Stops once `budget` bytes were read, like dump.lua.
local answer, n, read = {}, 0, 0
for _, key in ipairs(keys) do
  if read >= budget then break end
  local name = redis.call('TYPE', key).ok
  local left, digest = 0, ''
  if name == 'none' then
    name = ''
  else
    local value
    if name == 'string' then
      value = redis.call('GET', key)
    else
      value = string.sub(redis.call('DUMP', key), 1, -11)
    end
    read = read + #value
    left, digest = redis.call('PTTL', key), redis.sha1hex(value)
  end
  answer[n + 1], answer[n + 2], answer[n + 3], n = name, left, digest, n + 3
end
return answer

-- Reads the beginning of each value: a string whole, of a collection its first `most` elements. What would take more than
-- `limit` bytes of one key is left out and counted. `names` are the keys, packed, unless they are declared; `types` has a
-- letter for what each was seen to be. Stops, with fewer answers than keys, once `budget` bytes are read.
-- Answers how long it took in µs, and packed for each key { how many were left out, element, … }: field and value of a hash,
-- member and score of a sorted set, { id, { field, value, … } } of a stream; -1 where it has gone, or become something else.
local _, clock = pcall(function() return os.clock end)
local function micros()
  if type(clock) == 'function' then return clock() * 1000000 end
  local time = redis.call('TIME')
  return time[1] % 1000000 * 1000000 + time[2]
end
local began = micros()

-- Text, since a number is dear for Lua to hand on.
local function digits(number) return string.format('%d', number) end
local call, some, last, first = redis.pcall, digits(most), digits(most - 1), math.min(limit, 4096)
-- Whether the user may not run a command. The words are those of Redis up to 7.0, and of Redis and Valkey since 7.2.
local function isDenied(reply)
  local words = type(reply) == 'table' and reply.err
  return words
    and (string.find(words, 'The user executing the script', 1, true) or string.find(words, 'ACL failure in script', 1, true))
end
-- The elements of a scan, or its error.
local function scanned(reply) return reply[2] or reply end
local ending = digits(first)
local READ = {
  h = function(key) return scanned(call('HSCAN', key, '0', 'COUNT', some)), 2 end,
  l = function(key) return call('LRANGE', key, '0', last), 1 end,
  s = function(key) return scanned(call('SSCAN', key, '0', 'COUNT', some)), 1 end,
  z = function(key) return call('ZRANGE', key, '0', last, 'WITHSCORES'), 2 end,
  x = function(key) return call('XRANGE', key, '-', '+', 'COUNT', some), 1 end,
}
local function sizeOf(element)
  if type(element) == 'string' then return #element end
  local size = 0
  for _, part in ipairs(element) do size = size + sizeOf(part) end
  return size
end
if names ~= '' then keys = cmsgpack.unpack(names) end
local answers, spent = {}, 0
for index, key in ipairs(keys) do
  if spent > budget then break end
  local letter, answer = types:sub(index, index), -1
  if letter == 't' then
    local value = call('GETRANGE', key, '0', ending)
    if isDenied(value) then return value end
    if type(value) == 'string' and (value ~= '' or redis.call('EXISTS', key) == 1) then
      if #value <= first then answer = {0, value}
      elseif redis.call('STRLEN', key) > limit then answer = {1}
      else answer = {0, redis.call('GET', key)} end
      spent = spent + #(answer[2] or value)
    end
  elseif READ[letter] then
    local found, width = READ[letter](key)
    if isDenied(found) then return found end
    if not found.err and #found > 0 then
      answer = {0}
      local left, n = limit, 1
      -- A small hash or set is scanned whole, whatever was asked.
      for at = 1, math.min(#found, most * width), width do
        local element, other = found[at], width == 2 and found[at + 1]
        local size = sizeOf(element) + (other and #other or 0)
        if size > left then answer[1] = answer[1] + 1
        else
          answer[n + 1], n = element, n + 1
          if other then answer[n + 1], n = other, n + 1 end
          left = left - size
        end
      end
      spent = spent + limit - left
    end
  end
  answers[index] = answer
end
return {math.floor(micros() - began), cmsgpack.pack(answers)}

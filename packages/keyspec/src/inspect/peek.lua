-- Reads the beginning of each value: a string whole, of a collection its first `most` elements. What would take more than
-- `limit` bytes of one key is left out and counted. Stops, with fewer answers than keys, once `budget` bytes are read.
-- Answers for each key { type, length or number of elements, how many were left out, element, … }: field and value of a
-- hash, member and score of a sorted set, { id, { field, value, … } } of a stream.
local READ = {
  hash = function(key) return redis.call('HSCAN', key, '0', 'COUNT', most)[2], redis.call('HLEN', key), 2 end,
  list = function(key) return redis.call('LRANGE', key, 0, most - 1), redis.call('LLEN', key), 1 end,
  set = function(key) return redis.call('SSCAN', key, '0', 'COUNT', most)[2], redis.call('SCARD', key), 1 end,
  zset = function(key) return redis.call('ZRANGE', key, 0, most - 1, 'WITHSCORES'), redis.call('ZCARD', key), 2 end,
  stream = function(key) return redis.call('XRANGE', key, '-', '+', 'COUNT', most), redis.call('XLEN', key), 1 end,
}
local function sizeOf(element)
  if type(element) == 'string' then return #element end
  local size = 0
  for _, part in ipairs(element) do size = size + sizeOf(part) end
  return size
end
local answers, spent = {}, 0
for _, key in ipairs(keys) do
  if spent > budget then break end
  local kind = redis.call('TYPE', key).ok
  local answer = {kind, 0, 0}
  if kind == 'string' then
    answer[2] = redis.call('STRLEN', key)
    if answer[2] > limit then answer[3] = 1
    else
      answer[4] = redis.call('GET', key)
      spent = spent + answer[2]
    end
  elseif READ[kind] then
    local found, count, width = READ[kind](key)
    local left = limit
    answer[2] = count
    -- A small hash or set is scanned whole, whatever was asked.
    for at = 1, math.min(#found, most * width), width do
      local size = sizeOf(found[at]) + (width == 2 and sizeOf(found[at + 1]) or 0)
      if size > left then answer[3] = answer[3] + 1
      else
        for part = at, at + width - 1 do answer[#answer + 1] = found[part] end
        left = left - size
      end
    end
    spent = spent + limit - left
  end
  answers[#answers + 1] = answer
end
return answers

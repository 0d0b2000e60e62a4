-- take-ends.lua. Takes up to `count` elements from one end of a list or a sorted set, if each of them is among those that
-- the caller has read before. Answers {1, what `pop` answered}, or {0, the elements at that end now}: then nothing was done.
-- `peek` is LRANGE, ZRANGE or ZREVRANGE, `pop` the command that takes; from `first` to `last` are `count` elements.
local readable = {}
for i = 1, #read do readable[read[i]] = true end
for _, element in ipairs(redis.call(peek, key, first, last)) do
  if not readable[element] then return {0, redis.call(peek, key, from, to)} end
end
return {1, redis.call(pop, key, count)}

-- update-fields-if.lua. HSET of any number of fields where others hold what is expected, with the key's lifetime in the
-- same step. `values` holds fields and values in turn: of the first `expected` arguments what must be there, then what is
-- written. Answers the whole hash, or nil where something else is there: then nothing was done.
for i = 1, expected, 2 do
  if redis.call('HGET', key, values[i]) ~= values[i + 1] then return false end
end
for from = expected + 1, #values, 4000 do
  redis.call('HSET', key, unpack(values, from, math.min(from + 3999, #values)))
  --@include ../script/include/give-lifetime.lua
end
return redis.call('HGETALL', key)

-- update-fields.lua. HSET of any number of fields, with the key's lifetime in the same step, answering the whole hash.
-- `values` holds each field and its value, one after another; Lua cannot unpack more than some thousands at once.
for from = 1, #values, 4000 do
  redis.call('HSET', key, unpack(values, from, math.min(from + 3999, #values)))
  --@include ../script/include/give-lifetime.lua
end
return redis.call('HGETALL', key)

-- increment-field.lua. HINCRBY, with the key's lifetime in the same step. Answers nil, and leaves the field as it was,
-- where it would come beyond ±(2^53 − 1), as increment.lua does.
local count = redis.call('HINCRBY', key, field, by)
if count > 9007199254740991 or count < -9007199254740991 then
  redis.call('HINCRBY', key, field, back)
  return false
end
--@include ../script/include/give-lifetime.lua
return string.format('%.0f', count)

-- take-count.lua. Answers what the key holds, and deletes it if that is a whole number within ±(2^53 − 1) as INCR writes it.
local stored = redis.call('GET', key)
if not stored then return false end
local digits = string.match(stored, '^%-?([1-9]%d*)$')
if stored == '0' or digits and (#digits < 16 or #digits == 16 and digits <= '9007199254740991') then
  redis.call('DEL', key)
end
return stored

-- next.lua. Takes the next `count` numbers of a sequence and answers the last of them; or nil, with nothing taken, where
-- it would pass 2^53 - 1: beyond, the doubles of Lua and JavaScript would give two callers the same number. The answer is
-- text, because some clients read an integer reply inexactly before that already.
-- renew 'creation': the lifetime is set only where the key has none, be it new or never given one.
local last = redis.call('INCRBY', key, count)
if last > 9007199254740991 then
  redis.call('INCRBY', key, string.format('%.0f', -count))
  return false
end
if ttlMs ~= '0' and (renew ~= 'creation' or redis.call('PTTL', key) == -1) then redis.call('PEXPIRE', key, ttlMs) end
return string.format('%.0f', last)

-- move-element.lua. LMOVE, with the lifetime of the list that receives the element in the same step. Answers the
-- element, or nil where there was none.
local element = redis.call('LMOVE', source, destination, from, to)
if not element then return false end
if ttlMs ~= '0' and (renew ~= 'creation' or redis.call('PTTL', destination) == -1) then
  redis.call('PEXPIRE', destination, ttlMs)
end
return element

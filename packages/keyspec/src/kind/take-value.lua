-- take-value.lua. Deletes the key where it still holds what was `seen`. Answers {1}, or {0} and what is there now, if
-- anything is: then nothing was done.
local now = redis.call('GET', key)
if now ~= seen then return {0, now} end
redis.call('DEL', key)
return {1}

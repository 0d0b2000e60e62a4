-- set-together.lua. SET of several keys with one lifetime (0: forever), in the order given; `values` stand for them in theirs.
-- Answers nothing where all were set; else the places of those that were not, each followed by the error.
-- The lifetime stays text: made of a number anew for each call, it would be the dearest of the arguments.
local failed
local pcall = redis.pcall
for i = 1, #keys do
  local reply
  if ttlMs == '0' then reply = pcall('SET', keys[i], values[i])
  else reply = pcall('SET', keys[i], values[i], 'PX', ttlMs) end
  if reply.err then
    failed = failed or {}
    failed[#failed + 1] = i
    failed[#failed + 1] = reply.err
  end
end
return failed or false

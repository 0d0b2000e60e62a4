-- held.lua. The jobs that a worker holds, each with its lease begun anew: id, text for each, the oldest lease first.
-- Text, since a number is dear for Lua to hand on.
local deadline = string.format('%.0f', now + leaseMs)
local answer = {}
for _, id in ipairs(redis.call('ZRANGE', deadlines, '0', '-1')) do
  if redis.call('HGET', holders, id) == worker then
    local text = redis.call('HGET', inProgress, id)
    if text then
      redis.call('ZADD', deadlines, deadline, id)
      answer[#answer + 1] = id
      answer[#answer + 1] = text
    end
  end
end
return answer

-- renew.lua. Starts the lease of jobs anew, of those that the worker holds; answers 1 for each of these, else 0.
-- Text, since a number is dear for Lua to hand on.
local deadline = string.format('%.0f', now + leaseMs)
local answers = {}
for n, id in ipairs(ids) do
  if redis.call('HGET', holders, id) == worker then
    redis.call('ZADD', deadlines, deadline, id)
    answers[n] = 1
  else
    answers[n] = 0
  end
end
return answers

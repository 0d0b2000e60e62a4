-- cleanup-repair.lua. Gives each key the time to live that is declared for it, `values` holding for each its type, that time
-- and the longest it may have: where it has none (`fill`), and where it has a longer one (`cap`). A key that has got one
-- meanwhile, or is of another type, is left. Answers 1 for each that was fixed, else 0.
local answer = {}
for i, key in ipairs(targets) do
  local kind, ttl, most = values[3 * i - 2], values[3 * i - 1], tonumber(values[3 * i])
  local left = redis.call('PTTL', key)
  local due = (fill and left == -1) or (cap and left > most)
  answer[i] = due and redis.call('TYPE', key).ok == kind and redis.call('PEXPIRE', key, ttl) or 0
end
return answer

-- phases.lua. Answers for each phase of a rename how long ago a program used `pattern` at it, in ms; -1 if none did lately.
local ago = {}
for phase = 1, 3 do
  local seen = redis.call('ZSCORE', register, phase .. ' ' .. pattern)
  ago[phase] = seen and math.max(0, now - tonumber(seen)) or -1
end
return ago

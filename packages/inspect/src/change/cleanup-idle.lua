-- cleanup-idle.lua. Deletes each key that nobody has touched for `seconds`. Answers 1 for each that went, 0 for each that was
-- touched meanwhile or is gone.
local answer = {}
for i, key in ipairs(targets) do
  local idle = redis.pcall('OBJECT', 'IDLETIME', key)
  answer[i] = type(idle) == 'number' and idle >= seconds and redis.call('UNLINK', key) or 0
end
return answer

-- One step of a walk: SCAN from `cursor`, and of every key found its type and the facts asked for (`ttl`, `memory`,
-- `encoding`, `idle`). Answers { next cursor, key, type, facts in that order, key, type, … }. A key that this node
-- cannot speak for, because its slot is moving, has the type `?` and no fact; who walks asks for it again elsewhere.
local step = {'SCAN', cursor, 'COUNT', count}
if match ~= '' then step[5], step[6] = 'MATCH', match end
local found = redis.call(unpack(step))
local answer, n = {found[1]}, 1
for _, key in ipairs(found[2]) do
  local kind = redis.pcall('TYPE', key)
  local name = kind.ok or '?'
  if name ~= 'none' then
    answer[n + 1], answer[n + 2], n = key, name, n + 2
    if ttl then n = n + 1 answer[n] = name == '?' and -1 or redis.call('PTTL', key) end
    if memory then n = n + 1 answer[n] = name == '?' and 0 or redis.call('MEMORY', 'USAGE', key) end
    if encoding then n = n + 1 answer[n] = name == '?' and '' or redis.call('OBJECT', 'ENCODING', key) end
    if idle then
      -- Under an LFU policy the server keeps no idle times, and says so.
      local seconds = name == '?' and -1 or redis.pcall('OBJECT', 'IDLETIME', key)
      n = n + 1 answer[n] = type(seconds) == 'number' and seconds or -1
    end
  end
end
return answer

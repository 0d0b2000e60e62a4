-- job.lua. What the verbs of a work queue share.
-- A job is kept as one text: its JSON, which names the id in `field`, or `<id> <payload>` where no field is declared.
-- `by` is the field that says its kind. `tallied` names the counters in `counters`, in the order of the keys:
-- `waiting:<kind>`, `done:<kind>`, `failed:<kind>` and `also:<name>`.

-- The job's text as a table, where it is JSON.
local function decoded(text)
  if field == '' then text = string.match(text, '^%S+ (.*)$') or '' end
  local ok, job = pcall(cjson.decode, text)
  if ok and type(job) == 'table' then return job end
  return nil
end

-- The id of a job, nil where the text has none, and its kind where kinds are counted.
-- The pattern comes first since it is quick, and keeps digits that a Lua number would round.
local function read(text)
  local id
  if field == '' then
    id = string.match(text, '^(%S+) ')
  else
    id = string.match(text, '^{"' .. field .. '": ?(%d+)[,}]')
  end
  if id and by == '' then return id, nil end
  local job = decoded(text) or {}
  if not id and field ~= '' then
    id = job[field]
    if type(id) == 'number' then id = string.format('%.0f', id) end
    if type(id) ~= 'string' or id == '' then id = nil end
  end
  local kind = job[by]
  return id, type(kind) == 'string' and kind or nil
end

local moved = {}

-- Notes that a counter moves, if one is declared.
local function count(state, kind, amount)
  if kind then
    local name = state .. ':' .. kind
    moved[name] = (moved[name] or 0) + amount
  end
end

-- The first reason why the script must not write. A script checks it once, before its first write.
local problem

-- Runs a command that changes nothing, and notes its error. A write without effect proves that the key has the right type
-- and that the user may run the command.
local function prove(command, key, ...)
  if problem then return end
  local reply = redis.pcall(command, key, ...)
  if type(reply) == 'table' and reply.err then problem = reply.err .. ' (' .. key .. ')' end
  return reply
end

-- The text of a counter as a number, nil as 0; a key that holds no whole number is a problem.
local function counted(key, text)
  if not text then text = prove('GET', key) end
  if problem or not text then return 0 end
  local value = tonumber(text)
  local isWhole = text == '0' or string.match(text, '^-?[1-9]%d*$')
  if not isWhole or math.abs(value) > 9007199254740991 then
    problem = 'ERR value is not an integer or out of range (' .. key .. ')'
    return 0
  end
  return value
end

-- What each noted counter moves by. A counter that drifted below zero ends at zero.
local steps = {}

-- Proves that the counters that were noted can move.
local function weigh()
  local at, keys, amounts = 0, {}, {}
  for name in string.gmatch(tallied, '%S+') do
    at = at + 1
    local amount = moved[name] or 0
    if amount ~= 0 then
      keys[#keys + 1] = counters[at]
      amounts[#amounts + 1] = amount
    end
  end
  if #keys == 0 then return end
  local values = redis.call('MGET', unpack(keys))
  for n, key in ipairs(keys) do
    local value = counted(key, values[n])
    local sum = math.max(0, value + amounts[n])
    if sum > 9007199254740991 then
      problem = problem or 'ERR the counter would leave the range of whole numbers (' .. key .. ')'
    end
    if sum ~= value then steps[#steps + 1] = {key, string.format('%.0f', sum - value)} end
  end
end

-- Moves the counters.
local function settle()
  for _, step in ipairs(steps) do redis.call('INCRBY', step[1], step[2]) end
end

-- What is kept of a failed job: all of it, or the one field that is declared.
local function remains(text)
  if failedField == '' then return text end
  local job = decoded(text)
  local kept = job and job[failedField]
  return type(kept) == 'string' and kept or text
end

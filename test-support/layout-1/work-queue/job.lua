-- job.lua. What the verbs of a work queue share; it stands before the body of each.
-- A job is kept as one text: its JSON, which names the id in `field`, or `<id> <payload>` where no field is declared.
-- `by` is the field that says its kind. `tallied` names the counters in `tallies`, in the order of the keys:
-- `waiting:<kind>`, `done:<kind>`, `failed:<kind>` and `also:<name>`.

-- Runs a command that takes any number of values; Lua can unpack only some thousands at once.
local function batch(command, key, values)
  for from = 1, #values, 4000 do
    redis.call(command, key, unpack(values, from, math.min(from + 3999, #values)))
  end
end

-- HMGET, however many fields.
local function lookUp(key, fields)
  local found = {}
  for from = 1, #fields, 4000 do
    local part = redis.call('HMGET', key, unpack(fields, from, math.min(from + 3999, #fields)))
    for i = 1, #part do found[from + i - 1] = part[i] end
  end
  return found
end

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

-- Notes that a counter moves, where one is declared.
local function count(state, kind, amount)
  if kind then
    local name = state .. ':' .. kind
    moved[name] = (moved[name] or 0) + amount
  end
end

-- Moves the counters that were noted, all or none, and before anything else is written: one that holds no number stops
-- the verb while the queue is untouched, and its error is answered. A counter that drifted below stops at zero.
local function settle()
  local at = 0
  local applied = {}
  for name in string.gmatch(tallied, '%S+') do
    at = at + 1
    local amount = moved[name] or 0
    if amount ~= 0 then
      local value = redis.pcall('INCRBY', tallies[at], string.format('%.0f', amount))
      if type(value) == 'table' then
        for key, undo in pairs(applied) do redis.call('INCRBY', key, string.format('%.0f', -undo)) end
        return redis.error_reply(value.err .. ' (the counter ' .. tallies[at] .. ')')
      end
      if value < 0 then
        redis.call('SET', tallies[at], '0')
        amount = amount - value
      end
      applied[tallies[at]] = amount
    end
  end
  return nil
end

-- What is kept of a failed job: all of it, or the one field that is declared.
local function remains(text)
  if failedField == '' then return text end
  local job = decoded(text)
  local kept = job and job[failedField]
  return type(kept) == 'string' and kept or text
end

-- Puts jobs back at the head, the first of them foremost, and wakes who waits for an empty queue.
local function putBack(texts)
  local reversed = {}
  for i = #texts, 1, -1 do reversed[#reversed + 1] = texts[i] end
  if #texts == 0 then return end
  local empty = redis.call('LLEN', waiting) == 0
  batch('LPUSH', waiting, reversed)
  if empty then redis.pcall('PUBLISH', waiting, #texts) end
end

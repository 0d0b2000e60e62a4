-- One step of a walk: SCAN from `cursor`, and of every key found its type and the facts asked for (`ttl`, `memory`,
-- `encoding`, `idle`). Answers { next cursor, how long it took in µs, all keys end to end, the rest, word, … }, where the
-- rest is one array of MessagePack: of each key its length, its type and the facts in that order. Few long strings are what
-- a client reads quickest. Types and encodings are numbers of words. A key that this node cannot speak for, because its
-- slot is moving, has the type `?` and no fact; who walks asks for it again elsewhere.

-- Within a script some servers stop the clock of TIME, and those let scripts see how busy the processor was.
local _, clock = pcall(function() return os.clock end)
local function micros()
  if type(clock) == 'function' then return clock() * 1000000 end
  local time = redis.call('TIME')
  return time[1] % 1000000 * 1000000 + time[2]
end
local began = micros()

local words, places = {}, {}
local function placed(word)
  words[#words + 1] = word
  places[word] = #words
  return #words
end

-- What else has one of these encodings? A value of a module is `raw` too.
local ONLY = {int = 'string', embstr = 'string', quicklist = 'list', intset = 'set', skiplist = 'zset', stream = 'stream'}
local call, pcall = redis.call, redis.pcall
-- Whether the user may not run a command. The words are those of Redis up to 7.0, and of Redis and Valkey since 7.2.
local function isDenied(reply)
  local words = type(reply) == 'table' and reply.err
  return words
    and (string.find(words, 'The user executing the script', 1, true) or string.find(words, 'ACL failure in script', 1, true))
end
local step = {'SCAN', cursor, 'COUNT', count}
if match ~= '' then step[5], step[6] = 'MATCH', match end
local found = call(unpack(step))
local keys, facts, m, n = {}, {}, 0, 0
for _, key in ipairs(found[2]) do
  local inner = encoding and pcall('OBJECT', 'ENCODING', key)
  local name = ONLY[inner]
  if not name then
    if isDenied(inner) then return inner end
    local kind = pcall('TYPE', key)
    if isDenied(kind) then return kind end
    name = kind.ok or '?'
  end
  if name ~= 'none' then
    m = m + 1
    keys[m] = key
    facts[n + 1], facts[n + 2], n = #key, places[name] or placed(name), n + 2
    if name == '?' then
      if ttl then n = n + 1 facts[n] = -1 end
      if memory then n = n + 1 facts[n] = 0 end
      if encoding then n = n + 1 facts[n] = places[''] or placed('') end
      if idle then n = n + 1 facts[n] = -1 end
    else
      if ttl then n = n + 1 facts[n] = call('PTTL', key) end
      if memory then n = n + 1 facts[n] = call('MEMORY', 'USAGE', key) end
      if encoding then n = n + 1 facts[n] = places[inner] or placed(inner) end
      if idle then
        -- Under an LFU policy the server keeps no idle times, and says so.
        local seconds = pcall('OBJECT', 'IDLETIME', key)
        if isDenied(seconds) then return seconds end
        n = n + 1 facts[n] = type(seconds) == 'number' and seconds or -1
      end
    end
  end
end
return {found[1], math.floor(micros() - began), table.concat(keys), cmsgpack.pack(facts), unpack(words)}

-- take.lua. Takes `cost` from the quota of a calendar window if that much is left, or by `force`; a cost of 0 only looks.
-- All `counters` count the window that lasts from `from` until `till`, in server ms: outside of it nothing is done.
-- Another program may have raised one of them alone, so the largest counts, and a take brings all of them to one number.
-- A counter gets its time to live when it is created, or when a program left it without.
-- Answers {now} outside of the window, else {now, allowed, used, opened}.
if now < from or now >= till then return {now} end

local used, found = 0, false
for _, counter in ipairs(counters) do
  local stored = redis.pcall('GET', counter)
  -- The error names the counter: it would be taken for one of the first counter.
  if type(stored) == 'table' then return redis.error_reply(string.gsub(stored.err, '^%-', '') .. ' (' .. counter .. ')') end
  local count = tonumber(string.match(stored or '0', '^%-?%d+$'))
  if not count then return redis.error_reply('NOCOUNT ' .. counter .. ' holds no count, but ' .. #stored .. ' bytes that are none') end
  found = found or stored ~= false
  used = math.max(used, count)
end

local allowed = force or used + cost <= limit
if cost > 0 and allowed then
  used = used + cost
  for _, counter in ipairs(counters) do
    if redis.call('PTTL', counter) >= 0 then
      redis.call('SET', counter, string.format('%.0f', used), 'KEEPTTL')
    else
      redis.call('SET', counter, string.format('%.0f', used), 'PX', ttlMs)
    end
  end
end
return {now, allowed and 1 or 0, used, found and 0 or 1}

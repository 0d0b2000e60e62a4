-- stats.lua. How many jobs there are of each state, and every counter, all of one instant.
-- Each job in progress should have a lease and a holder: the differences are answered too.
local counts = {}
for i, key in ipairs(counters) do counts[i] = redis.call('GET', key) or '0' end
local running = redis.call('HLEN', inProgress)
return {
  redis.call('LLEN', waiting),
  running,
  redis.call('HLEN', done),
  redis.call('HLEN', failed),
  redis.call('ZCOUNT', deadlines, '-inf', now),
  running - redis.call('ZCARD', deadlines),
  running - redis.call('HLEN', holders),
  counts
}

-- stats.lua. How many jobs there are of each state, and every counter, all of one instant.
local counters = {}
for i, key in ipairs(tallies) do counters[i] = redis.call('GET', key) or '0' end
return {
  redis.call('LLEN', waiting),
  redis.call('HLEN', inProgress),
  redis.call('HLEN', done),
  redis.call('HLEN', failed),
  redis.call('ZCOUNT', deadlines, '-inf', now),
  counters
}

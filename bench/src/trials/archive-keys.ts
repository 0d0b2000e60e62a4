import { type } from 'arktype'
import { hash, json, sortedSet, string, text } from 'keyspec'

const Session = type({ user: 'string', roles: 'string[]', note: 'string' })

/** What the keys of a large server are: seven in ten JSON values with an expiry, some hashes and sorted sets that stay, and strays. */
export const schema = {
  session: string('app:session:<id>', json(Session), { ttl: '2h' }),
  profile: hash(
    'app:profile:<id>',
    { name: text, mail: text, at: text },
    { ttl: 'forever', reason: 'they stay' },
  ),
  rank: sortedSet('app:rank:<id>', text, { ttl: 'forever', reason: 'they stay' }),
}

const FILL = `for id = tonumber(ARGV[1]), tonumber(ARGV[2]) do
  local kind = id % 10
  if kind == 7 then redis.call('SET', 'other:' .. id, 'x')
  elseif kind == 8 then
    redis.call('HSET', 'app:profile:' .. id, 'name', 'n' .. id, 'mail', id .. '@example.org', 'at', id)
  elseif kind == 9 then
    for rank = 1, 8 do redis.call('ZADD', 'app:rank:' .. id, rank * id, 'm' .. rank) end
  else
    local note = string.rep('x', id % 120)
    redis.call('SET', 'app:session:' .. id, '{"user":"user-' .. id .. '","roles":["reader"],"note":"' .. note .. '"}', 'PX', 3600000 + id)
  end
end`

/** Writes so many keys of all kinds. */
export async function fill(
  client: { sendCommand(words: string[]): Promise<unknown> },
  keys: number,
): Promise<void> {
  for (let from = 0; from < keys; from += 10_000)
    await client.sendCommand(['EVAL', FILL, '0', String(from), String(Math.min(from + 10_000, keys) - 1)])
}

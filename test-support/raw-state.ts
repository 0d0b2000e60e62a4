import type { TemporaryRedis } from '../packages/keyspec/src/testing/index.ts'
import type { Sees } from './verbs.ts'

/** A key as the server holds it. */
interface RawKey {
  readonly type: string
  readonly ttlMs: number
  readonly value: readonly unknown[]
}

/** What stands behind one prefix: the keys by what follows it. */
export type RawState = ReadonlyMap<string, RawKey>

const READ = `
local key, kind = KEYS[1], redis.call('TYPE', KEYS[1]).ok
local value = {}
if kind == 'string' then
  value = { redis.call('GET', key) }
  if string.sub(key, -8) == '/compact' then -- its bytes hold times: what it counts shows how often it was applied
    local packed, used = value[1], 0
    for at = 11, #packed, 4 do used = used + struct.unpack('>I2', packed, at) end
    value = { used }
  end
elseif kind == 'list' then value = redis.call('LRANGE', key, '0', '-1')
elseif kind == 'set' then value = redis.call('SMEMBERS', key)
elseif kind == 'zset' then value = redis.call('ZRANGE', key, '0', '-1', 'WITHSCORES')
elseif kind == 'hash' then value = redis.call('HGETALL', key)
elseif kind == 'stream' then
  value = { redis.call('XLEN', key) }
  for _, group in ipairs(redis.call('XINFO', 'GROUPS', key)) do
    value[#value + 1] = group[2]
    value[#value + 1] = redis.call('XPENDING', key, group[2])
  end
end
return { kind, redis.call('PTTL', key), value }`

/** Reads all keys of a server that stand behind these prefixes, each of which ends with the only slash in a key. */
export async function rawStates(
  redis: TemporaryRedis,
  prefixes: readonly string[],
): Promise<ReadonlyMap<string, RawState>> {
  const known = new Set(prefixes)
  const states = new Map<string, Map<string, RawKey>>(prefixes.map((prefix) => [prefix, new Map()]))
  const names: string[] = []
  let cursor = '0'
  do {
    const [next, found] = (await redis.command('SCAN', cursor, 'COUNT', '5000')) as [string, string[]]
    cursor = next
    names.push(...found)
  } while (cursor !== '0')
  await Promise.all(
    [...new Set(names)].map(async (name) => {
      const prefix = name.slice(0, name.indexOf('/') + 1)
      if (!known.has(prefix)) return
      const [type, ttlMs, value] = (await redis.command('EVAL', READ, '1', name)) as [
        string,
        number,
        unknown[],
      ]
      if (type !== 'none') states.get(prefix)!.set(name.slice(prefix.length), { type, ttlMs, value })
    }),
  )
  return states
}

/**
 * Reads the states behind these prefixes at a moment when nothing changes them. What a client has given up may still be on its
 * way, and a state that is read key by key while it arrives is none that there ever was.
 */
export async function stillStates(
  redis: TemporaryRedis,
  prefixes: readonly string[],
): Promise<ReadonlyMap<string, RawState>> {
  let last = await rawStates(redis, prefixes)
  for (;;) {
    const next = await rawStates(redis, prefixes)
    if (contents(next) === contents(last)) return next
    last = next
  }
}

/** States without the times that run down, as text. */
function contents(states: ReadonlyMap<string, RawState>): string {
  const all = [...states].map(([prefix, keys]) => [
    prefix,
    [...keys].map(([name, { type, value }]) => [name, type, value]).toSorted(),
  ])
  return JSON.stringify(all)
}

const TEN_MINUTES = 600_000

/** The keys that say who loads, and the fence: one is written before the verb has done its work, and one outlives it. */
const BESIDE = /^(?:loading|fence$)/

/**
 * A state as text, in which two states are equal that show the same applications of a verb.
 *
 * @param nowMs The time of the server's clock.
 */
export function shown(state: RawState, sees: Sees, nowMs = Date.now()): string {
  const keys = [...state].filter(([name]) => !BESIDE.test(name)).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return JSON.stringify(keys.map(([name, key]) => [name, key.type, content(key, sees, nowMs)]))
}

function content({ type, ttlMs, value }: RawKey, sees: Sees, nowMs: number): unknown {
  if (sees === 'sizes') return type === 'stream' ? value[0] : value.length
  if (sees === 'ends') {
    const ends = type === 'zset' ? value.filter((_, at) => at % 2 === 1).map(Number) : []
    return [value.length, tens(ttlMs), ends.map((end) => tens(end - nowMs))]
  }
  if (type === 'set') return value.toSorted()
  if (type === 'hash') return Object.entries(Object.fromEntries(pairs(value))).toSorted()
  return value
}

const tens = (ms: number) => Math.round(ms / TEN_MINUTES)

function pairs(flat: readonly unknown[]): [string, unknown][] {
  return flat.flatMap((name, at) => (at % 2 === 0 ? [[String(name), flat[at + 1]] as [string, unknown]] : []))
}

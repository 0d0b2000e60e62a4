import { json, open, string } from 'keyspec'
import { matcher } from '@keyspec/inspect'
import * as v from 'valibot'
import type { Trial } from '../trial.ts'

const sizes = { '10 entries': 10, '100 entries': 100, '1,000 entries': 1000 } as const
const cases = Object.keys(sizes)

/** Opening and matching, by the number of entries. */
export const growthOfSchema: Trial = {
  name: 'growth-schema',
  about:
    'How the time of opening a schema, of making a matcher, and of matching one key grows with the number of entries. ' +
    'Matching is also given as so many times what it takes with 10 entries, measured in turns with that.',
  figures: {
    openMs: { label: 'open', unit: 'ms' },
    matcherMs: { label: 'make a matcher', unit: 'ms' },
    matchMicros: { label: 'match a key', unit: 'µs' },
    times: { label: 'match a key, of 10 entries' },
  },
  cases,
  grows: { by: 'entries', sizes, drawn: ['matchMicros', 'openMs'] },
  contenders: {
    keyspec: {
      label: 'Keyspec',
      async run(name) {
        const count = sizes[name as keyof typeof sizes]
        // What is compiled at the first call is nobody's growth.
        open(schemaOf(10), {} as never)
        const schema = schemaOf(count)
        const openMs = cpuMs(() => open(schema, {} as never))
        const matcherMs = cpuMs(() => matcher(schema))
        const [small, large] = [matching(10), matching(count)]
        for (const match of [small, large]) match(LOOKS)
        const spent = { small: 0, large: 0 }
        for (let turn = 0; turn < 20; turn += 1) {
          spent.small += cpuMs(() => small(LOOKS))
          spent.large += cpuMs(() => large(LOOKS))
        }
        return {
          openMs,
          matcherMs,
          matchMicros: (spent.large / 20 / LOOKS) * 1000,
          times: spent.large / spent.small,
        }
      },
    },
  },
  targets: [{ case: cases[2]!, figure: 'times', ours: 'keyspec', atMost: 2 }],
}

const LOOKS = 20_000

function schemaOf(count: number) {
  const value = json(v.object({ user: v.string() }))
  return Object.fromEntries(
    Array.from({ length: count }, (_, at) => [
      `entry${at}`,
      string(`area${at % 30}:kind${at}:<id>`, value, { ttl: '1h' }),
    ]),
  )
}

function matching(count: number): (looks: number) => void {
  const { match } = matcher(schemaOf(count))
  const keys = Array.from({ length: 1000 }, (_, at) => `area${(at % count) % 30}:kind${at % count}:${at}`)
  return (looks) => {
    for (let at = 0; at < looks; at += 1)
      if (match(keys[at % keys.length]!) === undefined) throw new Error(`no entry has ${keys[at]}`)
  }
}

function cpuMs(work: () => unknown): number {
  const before = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}

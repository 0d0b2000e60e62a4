import { open, json, string, text } from 'keyspec'
import * as v from 'valibot'
const Session = v.object({ user: v.string(), roles: v.array(v.string()), cart: v.array(v.object({ sku: v.string(), count: v.number() })) })
const session = { user: 'ada', roles: ['reader', 'editor'], cart: [{ sku: 'a-1', count: 2 }, { sku: 'b-7', count: 1 }] }
const stored = JSON.stringify(session)
const now = { client: 'fake', cluster: false, masters: async () => [], send: async (c) => c[0] === 'MGET' ? c.slice(1).map(() => stored) : stored }
const schema = { s: string('bench:session:<id>', json(Session), { ttl: '1h' }), t: string('bench:text:<id>', text, { ttl: '1h' }) }
const keys = open(schema, now)
let t = 0
const codec = json(Session)
const std = Session['~standard']
const acts = {
  parse: () => JSON.parse(stored), stringify: () => JSON.stringify(session),
  validate: () => std.validate(session), vrun: () => v.safeParse(Session, session), decode: () => codec.decode(stored), encode: () => codec.encode(session),
  key: () => keys.s({ id: t++ % 10000 }),
}
const asyncs = {
  awaited: async () => stored,
  rawParse: async () => JSON.parse(await now.send(['GET', `bench:session:${t++ % 10000}`])),
  getText: () => keys.t({ id: t++ % 10000 }).get(), get: () => keys.s({ id: t++ % 10000 }).get(), set: () => keys.s({ id: t++ % 10000 }).set(session) }
const N = 200000
function cpu(f) { const b = process.cpuUsage(); f(); const { user, system } = process.cpuUsage(b); return user + system }
for (const [n, a] of Object.entries(acts)) { let best = Infinity; for (let r = 0; r < 5; r++) best = Math.min(best, cpu(() => { for (let i = 0; i < N; i++) a() }) / N); console.log(n.padEnd(10), best.toFixed(3)) }
for (const fl of [1, 50, 500]) for (const [n, a] of Object.entries(asyncs)) { let best = Infinity; for (let r = 0; r < 5; r++) { let left = N; const b = process.cpuUsage(); const one = async () => { while (left-- > 0) await a() }; await Promise.all(Array.from({ length: fl }, one)); const { user, system } = process.cpuUsage(b); best = Math.min(best, (user + system) / N) } console.log(fl, n.padEnd(10), best.toFixed(3)) }

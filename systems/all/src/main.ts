import { fork } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { commandLine, needRedis, ownFile, redisClient, redisName } from '@keyspec-systems/program'
import { describeLifetime, validate } from 'keyspec'
import { usage } from '@keyspec/inspect'
import { fromNodeRedis } from 'keyspec/node-redis'
import { startRedis } from 'keyspec/testing'
import { all, moviesEnvironment, type System } from './schema.ts'

const help = `Runs the five systems at once on one private Redis, each with traffic of its own, then shows the whole keyspace.

  --once          the form that ends by itself, as this does anyway
  --seconds <n>   how long students and film lovers stay; 8 unless told
  NAME            runs one system: npm start -- movies; its own --help tells more

REDIS_URL         a Redis to use, which is left as it is, with all keys; a private one unless set`

const { count } = commandLine(help, { once: { type: 'boolean' }, seconds: { type: 'string' } })
const seconds = String(count('seconds', 1, 8))

/** What each system is told, so that all are done in about ten seconds. */
const jobs: { readonly [system in System]: readonly string[] } = {
  courtlistener: ['--once', '--dockets', '60'],
  documents: ['--once'],
  tutor: ['--once', '--seconds', seconds],
  mirrulations: ['--once', '--dockets', '12', '--documents', '40', '--comments', '80', '--attachments', '20'],
  movies: ['--once', '--seconds', seconds],
}

const stop = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => stop.abort())

process.exitCode = await run()

async function run(): Promise<number> {
  validate(all)
  console.log('five keyspaces on one database: no key could belong to two entries')
  const named = process.env['REDIS_URL']?.trim() ?? ''
  try {
    if (named !== '') await needRedis(named, { signal: stop.signal })
  } catch (error) {
    console.error((error as Error).message)
    return 1
  }
  const server =
    named === ''
      ? await startRedis({ port: 'any', config: { maxmemory: '450mb', 'maxmemory-policy': 'volatile-lru' } })
      : undefined
  const url = server?.url ?? named
  try {
    console.log(
      server === undefined
        ? `redis ${redisName(url)}, as REDIS_URL says`
        : `redis ${url}, private and temporary`,
    )
    const names = Object.keys(jobs) as System[]
    const codes = await Promise.all(names.map((name) => work(name, url)))
    if (stop.signal.aborted) return 130
    await show(url)
    const failed = names.filter((_, at) => codes[at] !== 0)
    if (failed.length > 0) console.error(`\n${failed.join(', ')} did not end well: see above.`)
    return failed.length > 0 ? 1 : 0
  } finally {
    await server?.stop()
  }
}

/** Runs one system as a process; answers its exit code, and prints its lines under its name. */
async function work(name: System, redisUrl: string): Promise<number> {
  const module = ownFile(import.meta.url, `../${name}/program/main.js`)
  const child = fork(module, jobs[name], {
    env: { ...process.env, REDIS_URL: redisUrl, MOVIES_ENV: moviesEnvironment, NO_COLOR: '1' },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    signal: stop.signal,
    // In a group of its own: a Ctrl-C in the terminal reaches this job alone, which ends the others.
    detached: true,
  })
  child.on('error', () => {})
  for (const stream of [child.stdout!, child.stderr!]) {
    createInterface({ input: stream }).on('line', (line) => console.log(`${name.padEnd(13)} │ ${line}`))
  }
  const [code] = (await once(child, 'close')) as [number | null]
  return code ?? 1
}

/** Every entry that has keys, and what they weigh. */
async function show(url: string): Promise<void> {
  const client = redisClient(url, { patienceMs: 10_000 })
  await client.connect()
  const line = (cells: readonly string[]) =>
    console.log(cells.map((cell, at) => cell.padEnd([32, 44, 7, 10][at] ?? 0)).join(' '))
  try {
    console.log('\nThe whole keyspace')
    line(['entry', 'pattern', 'type', 'lifetime', 'keys', 'bytes'])
    for (const { owned, keys, bytes } of await usage(all, fromNodeRedis(client))) {
      if (keys === 0) continue
      const [lifetime = ''] = owned === undefined ? [] : describeLifetime(owned.spec.lifetime).split(/[: ]/)
      const what = [owned?.entry ?? '(unknown)', owned?.pattern.text ?? '', owned?.spec.type ?? '', lifetime]
      line([...what, String(keys), String(bytes)])
    }
  } finally {
    client.destroy()
  }
}

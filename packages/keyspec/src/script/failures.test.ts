import { createClient } from 'redis'
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { scriptModules } from '../../../../test-support/script-modules.ts'
import { type Drive, type Row, scriptDrives } from '../../../../test-support/script-drives.ts'
import { isRedis6 } from '../../../../test-support/server-version.ts'
import type { Argument, Command, Connection, Shape } from '../connection/connection.ts'
import { keysOf } from '../connection/connection.ts'
import { fromNodeRedis } from '../connection/client/node-redis.ts'
import { ServerError } from '../connection/server-error.ts'
import { KeyspecError } from '../errors.ts'
import { eventually, startRedis, type TemporaryRedis, unique } from '../testing/index.ts'
import { isProvenEverywhere, SPARABLE } from './proof.ts'
import type { Script, ScriptOptions } from './script.ts'

interface Described {
  readonly script: Script<string, any, unknown>
  readonly commands: readonly string[]
  readonly given: readonly string[]
}

const described = vi.hoisted(() => {
  // Another file of this worker may have loaded them before.
  vi.resetModules()
  return new Map<string, Described>()
})

// Every module that describes a script says so here while it loads.
vi.mock(import('./script.ts'), async (load) => {
  const original = await load()
  const script = (name: string, options: ScriptOptions<string, any, unknown>) => {
    const made = original.script(name, options)
    const given = Object.values(options.given ?? {}).flat() as string[]
    described.set(name, { script: made, commands: made.commands, given })
    return made
  }
  return { ...original, script: script as typeof original.script }
})

// A script without a row fails the first test; the names are known before the modules are loaded.
const names = Object.keys(scriptDrives('p'))

let redis: TemporaryRedis
let admin: Connection
let limited: Connection

beforeAll(async () => {
  for (const path of scriptModules) await import(path)
  redis = await startRedis()
  await redis.command('ACL', 'SETUSER', 'limited', 'on', '>secret', '~test-*', '&*', '+@all')
  admin = await connect('default')
  limited = await connect('limited')
}, 120_000)

afterAll(async () => {
  vi.doUnmock('./script.ts')
  vi.resetModules()
  await redis.stop()
})

const clients: { destroy(): void }[] = []
afterAll(() => clients.forEach((client) => client.destroy()))

async function connect(user: string): Promise<Connection> {
  const login = user === 'default' ? {} : { username: user, password: 'secret' }
  const client = createClient({ socket: { path: redis.socket, tls: false }, ...login })
  client.on('error', () => {})
  clients.push(client)
  await client.connect()
  return fromNodeRedis(client)
}

let prefix: string
beforeEach(() => {
  prefix = `${unique()}:`
})

const rowOf = (name: string): Row => scriptDrives(prefix)[name]!
const drivesOf = (name: string): readonly Drive[] => rowOf(name).drives

/** A connection to which no script has proven anything, and the keys that scripts were given over it. */
function recording(
  connection: Connection,
): Connection & { readonly scripts: Command[]; readonly keys: Set<string> } {
  const scripts: Command[] = []
  const keys = new Set<string>()
  return {
    ...connection,
    scripts,
    keys,
    send(command: Command, shape: Shape) {
      if (String(command[0]).startsWith('EVAL')) {
        scripts.push(command)
        for (const key of keysOf(command, shape)) keys.add(key)
      }
      return connection.send(command, shape)
    },
  }
}

async function clear(): Promise<void> {
  for (const key of await keysNow()) await redis.command('UNLINK', key)
}

async function prepare({ before = [], prepare: make }: Drive): Promise<void> {
  await clear()
  for (const command of before) await redis.command(...(command as [string]))
  await make?.(admin)
}

async function run(name: string, drive: Drive, connection: Connection): Promise<unknown> {
  if (drive.run !== undefined) return drive.run(connection)
  const values = typeof drive.values === 'function' ? await drive.values(admin) : drive.values
  return described.get(name)!.script.run(connection, drive.keys as never, values as never)
}

async function keysNow(): Promise<string[]> {
  const [, found] = (await redis.command('SCAN', '0', 'MATCH', `${prefix}*`, 'COUNT', '100000')) as [
    string,
    string[],
  ]
  return [...new Set(found)].sort()
}

/** Everything under the prefix: each key with its value and the instant at which it ends. */
async function state(): Promise<readonly (readonly [key: string, dump: string, ends: string])[]> {
  return Promise.all(
    (await keysNow()).map(async (key) => {
      const dump = (await redis.commandBuffer('DUMP', key)) as Buffer
      const left = Number(await redis.command('PTTL', key))
      // To the minute, since 6.2 tells no instant.
      return [
        key,
        dump.toString('hex'),
        left < 0 ? 'never' : String(Math.round((Date.now() + left) / 60_000)),
      ] as const
    }),
  )
}

/** Runs it; answers the error, and asserts that nothing changed if there was one. */
async function outcome(name: string, drive: Drive, connection: Connection, why: string): Promise<unknown> {
  const before = await state()
  try {
    await run(name, drive, connection)
    return undefined
  } catch (error) {
    expect(await state(), `${name} failed (${why}: ${String(error)}) and changed something`).toEqual(before)
    return error
  }
}

test('every script has a row', () => {
  expect([...described.keys()].filter((name) => !names.includes(name))).toEqual([])
  expect(names.filter((name) => !described.has(name))).toEqual([])
})

describe('what the server sees a script run is what the script declares:', () => {
  test.each(names)('%s', async (name) => {
    const { commands, given } = described.get(name)!
    const seen = await monitored()
    for (const drive of drivesOf(name)) {
      if (isRedis6 && drive.without !== undefined) continue
      await prepare(drive)
      const user = drive.without === undefined ? admin : limited
      await redis.command(
        'ACL',
        'SETUSER',
        'limited',
        '+@all',
        ...(drive.without === undefined ? [] : [`-${drive.without}`]),
      )
      seen.begin()
      await run(name, drive, recording(user)).catch((error: unknown) => {
        if (!(error instanceof Error && /holds no|9223372036854775807|overflow|E_/.test(error.message)))
          throw error
      })
      await seen.end()
    }
    const declared = [...commands, ...given]
    const idle = declared.filter(
      (command) =>
        !seen.commands.has(command) &&
        rowOf(name).unseen?.[command] === undefined &&
        !(isRedis6 && SPARABLE.has(command)),
    )
    expect([...seen.commands].filter((command) => !declared.includes(command))).toEqual([])
    expect(idle).toEqual([])
  })
})

/** What Redis 6.2 cannot prove, though another write comes before it. */
const UNPROVEN_ON_REDIS_6: { readonly [script: string]: readonly string[] } = {
  'cache/store': ['DEL'],
  // Of a staging key that somebody left.
  'swap/replace-set': ['SADD'],
  'work-queue/add': ['RPUSH'],
  'work-queue/turn': ['LPUSH'],
}

describe('a script that fails has changed nothing, where the user lacks a command:', () => {
  test.each(names)(
    '%s',
    async (name) => {
      const { commands, given } = described.get(name)!
      for (const drive of drivesOf(name)) {
        for (const command of [...commands, ...given]) {
          await prepare(drive)
          const rule = command.toLowerCase().replace(' ', '|')
          if (isRedis6 && (SPARABLE.has(command) || UNPROVEN_ON_REDIS_6[name]?.includes(command) === true))
            continue
          const taken = isRedis6 ? rule.replace(/\|.*/, '') : rule
          await redis.command('ACL', 'SETUSER', 'limited', '+@all', `-${taken}`)
          const connection = recording(limited)
          await redis.command('ACL', 'LOG', 'RESET')
          const error = await outcome(name, drive, connection, `without ${command}`)
          const cannot = isRedis6 && (!isProvenEverywhere(command) || connection.keys.size === 0)
          const proves =
            !cannot &&
            connection.scripts.length > 0 &&
            connection.scripts[0]![2] !== '0' &&
            !given.includes(command)
          if (error !== undefined) {
            expect(error).toMatchObject({ code: 'E_DENIED' })
            if (proves) expect((error as Error).message).toContain(`ACL SETUSER <user> +${rule}`)
          } else if (!SPARABLE.has(command)) {
            if (proves) expect.fail(`${name} ran without ${command}`)
            if (rowOf(name).answersDenials === true) continue
            expect(
              await redis.command('ACL', 'LOG'),
              `${name} went on after the denial of ${command}`,
            ).toEqual([])
          }
        }
      }
    },
    120_000,
  )
})

describe('a script that fails has changed nothing, where a key is of another type:', () => {
  test.each(names)(
    '%s',
    async (name) => {
      for (const drive of drivesOf(name)) {
        await prepare(drive)
        const probe = recording(admin)
        await run(name, drive, probe).catch(() => {})
        for (const key of probe.keys) {
          await prepare(drive)
          const type = await redis.command('TYPE', key)
          for (const foreign of [
            ['SET', key, 'foreign'],
            ['RPUSH', key, 'foreign'],
            ['ZADD', key, '1', 'foreign'],
          ] as const) {
            if ({ SET: 'string', RPUSH: 'list', ZADD: 'zset' }[foreign[0]] === type) continue
            await prepare(drive)
            await redis.command('DEL', key)
            await redis.command(...foreign)
            const dump = await redis.command('DUMP', key)
            const error = await outcome(name, drive, recording(admin), `${key} made by ${foreign[0]}`)
            if (error !== undefined || rowOf(name).anyType === true || type === 'none') continue
            expect(await redis.command('DUMP', key), `${name} wrote over a foreign ${key}`).toEqual(dump)
          }
        }
      }
    },
    120_000,
  )
})

describe('a script that fails has changed nothing, where a string holds another value:', () => {
  const values = ['', 'x', '1.5', '1e400', 'nan', '0x10', '9223372036854775807', '-9223372036854775808']
  test.each(names)(
    '%s',
    async (name) => {
      expect.hasAssertions()
      for (const drive of drivesOf(name)) {
        await prepare(drive)
        const probe = recording(admin)
        await run(name, drive, probe).catch(() => {})
        expect(probe.scripts).not.toEqual([])
        for (const key of probe.keys) {
          await prepare(drive)
          const type = await redis.command('TYPE', key)
          if (type !== 'string' && type !== 'none') continue
          for (const value of values) {
            await prepare(drive)
            await redis.command('SET', key, value)
            await outcome(name, drive, recording(admin), `${key} holds ${value}`)
          }
        }
      }
    },
    120_000,
  )
})

describe('a script that fails has changed nothing, where the server is out of memory:', () => {
  test.each(names)(
    '%s',
    async (name) => {
      onTestFinished(async () => void (await redis.command('CONFIG', 'SET', 'maxmemory', '0')))
      for (const drive of drivesOf(name)) {
        await redis.command('CONFIG', 'SET', 'maxmemory', '0')
        await prepare(drive)
        await redis.command('CONFIG', 'SET', 'maxmemory', '1')
        const error = await outcome(name, drive, recording(admin), 'out of memory')
        expect(error === undefined || error instanceof KeyspecError).toBe(true)
        if (error instanceof ServerError) expect(error.code).toMatch(/E_OUT_OF_MEMORY|E_SERVER|E_NO_COUNT/)
      }
    },
    120_000,
  )
})

interface Monitored {
  readonly commands: Set<string>
  begin(): void
  end(): Promise<void>
}

const CONTAINERS: ReadonlySet<string> = new Set(['MEMORY', 'OBJECT', 'XGROUP', 'XINFO'])

/** The commands that scripts run, as MONITOR shows them. */
async function monitored(): Promise<Monitored> {
  const client = createClient({ socket: { path: redis.socket, tls: false } })
  client.on('error', () => {})
  onTestFinished(() => client.destroy())
  await client.connect()
  const commands = new Set<string>()
  let isOn = false
  let last = ''
  await client.monitor((text) => {
    if (text.includes('"ECHO"')) last = text
    if (!isOn || !/\[\d+ lua\]/.test(text)) return
    const [, name = '', second = ''] = /\] "([^"]*)"(?: "([^"]*)")?/.exec(text) ?? []
    commands.add(CONTAINERS.has(name) ? `${name} ${second}` : name)
  })
  const mark = async () => {
    const marker: Argument = unique()
    await redis.command('ECHO', marker)
    await eventually(() => expect(last).toContain(marker))
  }
  return {
    commands,
    begin: () => void (isOn = true),
    async end() {
      await mark()
      isOn = false
    },
  }
}

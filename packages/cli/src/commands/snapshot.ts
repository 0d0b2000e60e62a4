import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Connection } from 'keyspec'
import {
  type KeySource,
  replicaSnapshot,
  type ReplicaTarget,
  SnapshotError,
  type SnapshotPart,
  snapshotSource,
  type SnapshotSource,
} from '@keyspec/inspect'
import { addressOf } from '../address.ts'
import type { Call, Given, Options, Settings } from '../command.ts'
import { type Target, targetOf } from '../connect.ts'
import { FileError, misused } from '../failure.ts'
import { bytesOf } from '../file.ts'
import type { serverOptions } from '../options.ts'
import { count } from '../render/units.ts'

/** For commands that can read a snapshot as well as ask a server. */
export const snapshotOptions = {
  snapshot: {
    about:
      'look at a snapshot: at FILE (dump.rdb), or at what the server makes for a replica, forking for it',
  },
} as const satisfies Options

/** Where the keys come from. */
export interface Keys {
  readonly from: Connection | KeySource
  /** The snapshot, where they come from one. */
  readonly snapshot: SnapshotSource | undefined
}

/** What a command that takes `snapshotOptions` is given. */
type SnapshotCall = Call<typeof serverOptions & typeof snapshotOptions>

/** Gives keys from the snapshot that was named, or from the server; what is wrong with a snapshot is said in one line. */
export async function withKeys<T>(
  call: SnapshotCall,
  settings: Settings,
  valueBytes: number | undefined,
  use: (keys: Keys) => Promise<T>,
): Promise<T> {
  const [file] = call.operands
  if (call.options.snapshot !== true) {
    if (file !== undefined) throw misused(`a file is read with --snapshot: --snapshot ${file}`)
    return use({ from: await call.connect(), snapshot: undefined })
  }
  const target = namedTarget(call, settings)
  const database = target === undefined ? 0 : addressOf(target.url).database
  const options = { database, valueBytes }
  try {
    if (file !== undefined) {
      const path = resolve(call.cwd, file)
      if (!existsSync(path)) throw misused(`there is no ${file}`)
      const open = () => bytesOf(path, file, 2 ** 18)
      const snapshot = snapshotSource([{ open }], options)
      return await use({ from: snapshot, snapshot })
    }
    if (target === undefined)
      throw misused('--snapshot without a file needs the URL of the server: give --url, or set REDIS_URL')
    const connection = await call.connect()
    const parts = (await mastersOf(target, connection)).map((each): SnapshotPart => ({
      open: () => replicaSnapshot(each, call.signal),
      goesOn: true,
    }))
    const snapshot = snapshotSource(parts, { ...options, connection })
    return await use({ from: snapshot, snapshot })
  } catch (error) {
    if (file !== undefined && error instanceof SnapshotError)
      throw new FileError(`${file}: ${error.message}`, error)
    throw error
  }
}

/** What is known of a snapshot, in words: `taken 2026-11-22 09:01:29 UTC by Redis 7.0.15, 3 keys had run out`. */
export function snapshotText({ facts }: SnapshotSource): string {
  const [first] = facts
  const said: string[] = []
  if (first?.takenAtMs !== undefined)
    said.push(`taken ${new Date(first.takenAtMs).toISOString().slice(0, 19).replace('T', ' ')} UTC`)
  if (first?.server !== undefined) said.push(`by ${first.server}`)
  const { expired, elsewhere } = sums(facts)
  return [
    said.join(' '),
    ...(expired > 0 ? [`${count(expired)} more had run out`] : []),
    ...(elsewhere > 0 ? [`${count(elsewhere)} in other databases left out`] : []),
  ].join(', ')
}

/** The same for programs; see `snapshotSchema`. */
export function snapshotJson({ facts }: SnapshotSource) {
  const [first] = facts
  const { takenAtMs } = first ?? {}
  return {
    server: first?.server,
    format: first?.format ?? 0,
    ...(takenAtMs === undefined ? {} : { takenAt: new Date(takenAtMs).toISOString() }),
    ...sums(facts),
  }
}

const number = { type: 'integer', minimum: 0 } as const

/** JSON Schema of what is said of a snapshot. */
export const snapshotSchema = {
  description: 'the snapshot that was read; absent where a server was asked',
  type: 'object',
  properties: {
    server: { type: 'string', description: 'what wrote it, "Redis 7.0.15"; absent where it does not say' },
    format: { ...number, description: 'the version of the RDB format' },
    takenAt: {
      type: 'string',
      description: 'when it was taken, to the second; absent where it does not say',
    },
    expired: { ...number, description: 'keys that had run out, and are not looked at' },
    elsewhere: { ...number, description: 'keys of other databases, which are not looked at' },
    bytes: number,
  },
  required: ['format', 'expired', 'elsewhere', 'bytes'],
  additionalProperties: false,
} as const

function sums(facts: SnapshotSource['facts']) {
  const sum = (of: 'expired' | 'elsewhere' | 'bytes') => facts.reduce((total, each) => total + each[of], 0)
  return { expired: sum('expired'), elsewhere: sum('elsewhere'), bytes: sum('bytes') }
}

/** The server that is named, if one is: of a connection that the configuration makes nobody knows where it leads. */
function namedTarget({ options, env }: SnapshotCall, settings: Settings): Target | undefined {
  const flags: Given<typeof serverOptions> = options
  const ownUrl = flags.url ?? env['REDIS_URL']
  if (ownUrl === undefined && (settings.connect !== undefined || settings.url === undefined)) return undefined
  return targetOf(flags, env, settings)
}

async function mastersOf(target: Target, connection: Connection): Promise<ReplicaTarget[]> {
  const { protocol, hostname, port, path, username, password } = addressOf(target.url)
  if (target.sentinel !== undefined)
    throw misused(
      '--snapshot asks one server: give --url of the master, or better of a replica, without --sentinel',
    )
  const credentials = { username, password }
  if (protocol === 'unix:') return [{ path, ...credentials }]
  const tls = protocol === 'rediss:'
  if (target.cluster !== true) return [{ host: hostname, port, tls, ...credentials }]
  // id address:port@bus,name flags master … slots: those that hold slots, and are there.
  const nodes = String(await connection.send(['CLUSTER', 'NODES'], { firstKey: 0, keyCount: 0 }))
  return nodes.split('\n').flatMap((line) => {
    const [, address = '', flags = '', , , , , , ...slots] = line.split(' ')
    if (!/\bmaster\b/.test(flags) || /\bfail\b|noaddr/.test(flags) || slots.length === 0) return []
    const [, host = '', nodePort] = /^(.*):(\d+)(?:@|$)/.exec(address) ?? []
    return [{ host: host === '' ? hostname : bare(host), port: Number(nodePort), tls, ...credentials }]
  })
}

/** An address of IPv6 without its brackets. */
function bare(host: string): string {
  return host.replace(/^\[(.*)\]$/, '$1')
}

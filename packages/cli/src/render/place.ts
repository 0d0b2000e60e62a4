import { addressOf, withoutPassword } from '../address.ts'
import type { Config } from '../config/config.ts'
import { type Target, targetOf, urlOf } from '../connect.ts'
import { optionWords } from './shell.ts'

/**
 * The server that a printed command line is for. A line that names none would be run on whichever server the one who pastes
 * it has at hand.
 */
export interface Place {
  /** What `keyspec` is given to find the same keys again: the flags of this call, a password as stars. */
  readonly keyspec: readonly string[]
  /** `undefined` for what redis-cli takes by itself. */
  readonly host: string | undefined
  readonly port: string | undefined
  /** How redis-cli connects: `--tls`, a socket, a database. */
  readonly options: readonly string[]
  /** As whom, the password being asked for. */
  readonly user: readonly string[]
  /** The manifest that the call compared with. */
  readonly against?: string | undefined
}

/** The server that both commands find by themselves. */
export const HERE: Place = { keyspec: [], host: undefined, port: undefined, options: [], user: [] }

/** The flags that say where keys are and whose they are. */
export interface PlaceFlags {
  readonly config?: string | undefined
  readonly schema?: string | undefined
  readonly prefix?: string | undefined
  readonly url?: string | undefined
  readonly cluster?: boolean | undefined
  readonly sentinel?: string | undefined
  readonly against?: string | undefined
}

/** The place of a call; `HERE`, but for its flags, if neither they nor the environment nor the configuration name a server. */
export function placeOfCall(
  flags: PlaceFlags,
  env: Readonly<Record<string, string | undefined>>,
  config: Config,
): Place {
  const isNamed = (urlOf(flags, env) ?? config.url) !== undefined
  const { url, cluster, sentinel } = flags
  const given = {
    ...(url === undefined ? {} : { url }),
    ...(cluster === undefined ? {} : { cluster }),
    ...(sentinel === undefined ? {} : { sentinel }),
  }
  return placeFor(flags, isNamed ? targetOf(given, env, config) : undefined)
}

/** The place of a call that was given these flags, and works on this server; on none, as with a snapshot, if it is undefined. */
export function placeFor(flags: PlaceFlags, target: Target | undefined): Place {
  const { config, schema, prefix, url, cluster, sentinel, against } = flags
  const given = {
    config,
    schema,
    prefix,
    url: url === undefined ? undefined : withoutPassword(url),
    sentinel,
  }
  const keyspec = Object.entries(given).flatMap(([name, value]) =>
    value === undefined ? [] : optionWords(name, value),
  )
  if (cluster === true) keyspec.push('--cluster')
  if (target === undefined) return { ...HERE, keyspec, against }
  const { protocol, hostname, port, path, username, password, database } = addressOf(target.url)
  const options = [
    ...(protocol === 'unix:' ? ['-s', path] : []),
    ...(protocol === 'rediss:' ? ['--tls'] : []),
    ...(database === 0 ? [] : ['-n', String(database)]),
  ]
  const user = [
    ...(username === undefined ? [] : ['--user', username]),
    ...(password === undefined ? [] : ['--askpass']),
  ]
  const same = { keyspec, options, user, against }
  if (target.sentinel !== undefined) return { ...same, host: 'MASTER', port: 'PORT' }
  const isLocal = protocol === 'unix:' || hostname === 'localhost' || hostname === '127.0.0.1'
  return {
    ...same,
    host: isLocal ? undefined : hostname,
    port: protocol === 'unix:' || port === 6379 ? undefined : String(port),
  }
}

/** The place of one server among several, by its `host:port`; a host that it does not know itself stays as it was. */
export function atNode(place: Place, node: string | undefined): Place {
  if (node === undefined) return place
  const at = node.lastIndexOf(':')
  const port = node.slice(at + 1)
  if (at < 0 || !/^\d+$/.test(port)) return { ...place, host: 'HOST', port: 'PORT' }
  return { ...place, host: at === 0 ? place.host : node.slice(0, at).replaceAll(/[[\]]/g, ''), port }
}

/** The words behind `redis-cli` that lead to a place, as the user of the call unless another one has to come. */
export function redisCliWords({ host, port, options, user }: Place, { asUser = true } = {}): string[] {
  return [
    ...(host === undefined ? [] : ['-h', host]),
    ...(port === undefined ? [] : ['-p', port]),
    ...options,
    ...(asUser ? user : []),
  ]
}

/** `host:port` as `redis-cli --cluster` takes it. */
export function addressWord({ host = '127.0.0.1', port = '6379' }: Place): string {
  return `${host}:${port}`
}

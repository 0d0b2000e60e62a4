import { misused } from './failure.ts'

/** A server as its URL names it. */
export interface Address {
  readonly protocol: 'redis:' | 'rediss:' | 'unix:'
  readonly hostname: string
  readonly port: number
  /** The path of a unix socket; empty for the other protocols. */
  readonly path: string
  readonly username: string | undefined
  readonly password: string | undefined
  readonly database: number
}

/**
 * Reads the URL of a server: `redis://user:password@host:port/3`, `rediss://…` or `unix:///path?db=3`. Every connection
 * is made from this, whichever client makes it.
 *
 * @throws A misuse if the URL cannot be followed to the letter. Its message shows neither user nor password.
 */
export function addressOf(url: string, defaultPort = 6379): Address {
  const named = parsed(url)
  const { protocol, hostname, port, username, password, pathname } = named
  requireProtocol(protocol)
  const isSocket = protocol === 'unix:'
  if (isSocket && ((hostname !== '' && hostname !== 'localhost') || pathname.length < 2))
    throw misused('the URL of a unix socket is unix:///path, with three slashes')
  // Clients differ: some would ask as the default user.
  if (username !== '' && password === '')
    throw misused(
      'the server’s URL names a user without a password: redis://user:password@host (any password, if the user has none)',
    )
  return {
    protocol,
    hostname: hostname === '' ? 'localhost' : hostname.replace(/^\[|\]$/g, ''),
    port: port === '' ? defaultPort : Number(port),
    path: isSocket ? decoded(pathname) : '',
    username: username === '' ? undefined : decoded(username),
    password: password === '' ? undefined : decoded(password),
    database: databaseOf(named),
  }
}

/** Returns a URL as it may be shown: without user and password. */
export function placeOf(url: string): string {
  const { protocol, host, pathname } = parsed(url)
  return `${protocol}//${protocol === 'unix:' ? '' : host}${pathname === '/' ? '' : pathname}`
}

/** Returns a URL with stars in place of its password. */
export function withoutPassword(url: string): string {
  const shown = parsed(url)
  if (shown.password === '') return url
  shown.password = '***'
  return shown.href
}

function parsed(url: string): URL {
  try {
    // A URL without a host cannot have a user.
    return new URL(url.replace(/^(unix:\/\/[^/?#]*@)\//, '$1localhost/'))
  } catch {
    throw misused('the server’s URL is not one: redis://host:port/db, rediss://… or unix:///path')
  }
}

function requireProtocol(protocol: string): asserts protocol is Address['protocol'] {
  if (protocol !== 'redis:' && protocol !== 'rediss:' && protocol !== 'unix:')
    throw misused(`${protocol}// is no server’s URL: redis://, rediss:// or unix://`)
}

function databaseOf({ protocol, pathname, searchParams }: URL): number {
  const inPath = protocol === 'unix:' ? '' : pathname.slice(1)
  const inQuery = searchParams.get('db') ?? ''
  if (inPath !== '' && inQuery !== '' && inPath !== inQuery)
    throw misused('the server’s URL names two databases: give it as /db or as ?db=')
  const text = inPath === '' ? inQuery : inPath
  if (!/^\d*$/.test(text))
    throw misused('the database in the server’s URL is a number: redis://host:port/3 or unix:///path?db=3')
  return Number(text)
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw misused('the server’s URL has a % that encodes nothing: write %25 for a %')
  }
}

import type { IncomingMessage } from 'node:http'

const LOOPBACK: ReadonlySet<string> = new Set(['127.0.0.1', 'localhost', '[::1]'])

/** Whether a request is addressed to this service: a name that another site pointed at this machine is not its own. */
export function isOwnHost(host: string | undefined, hosts: readonly string[]): boolean {
  const name = /^(.*?)(?::\d{1,5})?$/.exec(host ?? '')?.[1]?.toLowerCase() ?? ''
  return LOOPBACK.has(name) || hosts.includes(name)
}

/** Whether the method of a request says that it only looks. */
export function isLook({ method }: IncomingMessage): boolean {
  return method === 'GET' || method === 'HEAD' || method === 'OPTIONS'
}

/** Whether a page of another site makes a browser send a request. */
export function isCrossSite({ headers }: IncomingMessage, hosts: readonly string[]): boolean {
  const { origin } = headers
  if (headers['sec-fetch-site'] === 'cross-site') return true
  if (origin === undefined) return false
  // `null`: a page without an origin, such as one in a sandbox.
  return !URL.canParse(origin) || !isOwnHost(new URL(origin).host, hosts)
}

/** Whether the target of a request is a path that can be decoded. */
export function isWellFormed(target: string): boolean {
  const [path = ''] = target.split('?')
  if (!path.startsWith('/') || path.startsWith('//')) return false
  try {
    return !decodeURIComponent(path).includes('\0')
  } catch {
    return false
  }
}

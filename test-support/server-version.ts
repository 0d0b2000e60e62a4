import { execFileSync } from 'node:child_process'

/** The server that `startRedis` starts: Redis 7.0 of `Redis server v=7.0.15`, Valkey 8.1 of `Valkey server v=8.1.1`. */
function server(): { readonly name: string; readonly version: number } {
  for (const binary of ['redis-server', 'valkey-server']) {
    try {
      const told = execFileSync(binary, ['--version'], { encoding: 'utf8' })
      const [, name, version] = /^(\w+) server v=(\d+\.\d+)\./.exec(told)!
      return { name: name!, version: Number(version) }
    } catch {
      continue
    }
  }
  throw new Error('Neither redis-server nor valkey-server is on the PATH.')
}

const { name, version } = server()

/** Whether that server is Redis 6.2, which lacks some settings and commands that a test needs. */
export const isRedis6 = version < 7

/** Whether that server is Valkey 8.1 or later, which encodes a string by its key and its time to live too. */
export const embedsKeys = name === 'Valkey' && version >= 8.1

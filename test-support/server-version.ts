import { execFileSync } from 'node:child_process'

/** The version of the server that `startRedis` starts: 7 of `Redis server v=7.0.15`, 8 of `Valkey server v=8.0.1`. */
function serverVersion(): number {
  for (const name of ['redis-server', 'valkey-server']) {
    try {
      return Number(/ v=(\d+)\./.exec(execFileSync(name, ['--version'], { encoding: 'utf8' }))![1])
    } catch {
      continue
    }
  }
  throw new Error('Neither redis-server nor valkey-server is on the PATH.')
}

/** Whether that server is Redis 6.2, which lacks some settings and commands that a test needs. */
export const isRedis6 = serverVersion() < 7

import { startRedis, type TemporaryRedis } from 'keyspec/testing'
import type { Address } from './job.ts'

/** The private server of a run, and what it counts. */
export interface BenchServer {
  readonly address: Address
  readonly pid: number
  readonly version: string
  /** CPU time of the server in µs, and how many commands it has run, those inside scripts too. */
  spent(): Promise<{ readonly cpuMicros: number; readonly commands: number }>
  command: TemporaryRedis['command']
  /** Empties it: it is ours alone. */
  clear(): Promise<void>
  stop(): Promise<void>
}

/** Starts a server that keeps nothing on disk. */
export async function startServer(): Promise<BenchServer> {
  const redis: TemporaryRedis = await startRedis({ port: 'any' })
  const info = async (section: string) => String(await redis.command('INFO', section))
  const number = (text: string, name: string) =>
    Number(new RegExp(`^${name}:([\\d.]+)`, 'm').exec(text)?.[1] ?? 0)
  const version = /^redis_version:(\S+)/m.exec(await info('server'))?.[1] ?? 'unknown'
  return {
    address: { socket: redis.socket, port: redis.port!, url: redis.url },
    pid: redis.pid!,
    version,
    command: redis.command,
    async spent() {
      const [cpu, commands] = [await info('cpu'), await info('commandstats')]
      const seconds = number(cpu, 'used_cpu_sys') + number(cpu, 'used_cpu_user')
      const calls = [...commands.matchAll(/^cmdstat_([^:]+):calls=(\d+)/gm)]
      const counted = calls
        .filter(([, name]) => name !== 'info')
        .reduce((sum, [, , count]) => sum + Number(count), 0)
      return { cpuMicros: seconds * 1e6, commands: counted }
    },
    async clear() {
      await redis.command('FLUSHDB', 'ASYNC')
    },
    stop: () => redis.stop(),
  }
}

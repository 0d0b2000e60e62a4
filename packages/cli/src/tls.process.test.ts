import { execFile, execFileSync } from 'node:child_process'
import { createServer } from 'node:net'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { eventually, startRedis, type TemporaryRedis } from 'keyspec/testing'
import { expect, onTestFinished, test } from 'vitest'
import { fixture } from '../../../test-support/command-line.ts'

const bin = join(import.meta.dirname, '../bin/keyspec.js')
const hasOpenssl = (() => {
  try {
    return execFileSync('openssl', ['version'], { stdio: 'pipe' }).length > 0
  } catch {
    return false
  }
})()

/** A certificate for this host, and servers that take TLS alone. */
async function secured() {
  const folder = await mkdtemp(join(tmpdir(), 'keyspec-tls-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const [key, certificate] = [join(folder, 'key.pem'), join(folder, 'certificate.pem')]
  const names = 'subjectAltName=DNS:localhost,IP:127.0.0.1'
  const made = ['-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', '/CN=localhost']
  const to = ['-addext', names, '-keyout', key, '-out', certificate]
  execFileSync('openssl', ['req', ...made, ...to], { stdio: 'pipe' })
  const start = async (config: Record<string, string>, words: readonly string[] = []) => {
    const port = await freePort()
    const redis = await startRedis({
      arguments: words,
      config: {
        'tls-port': String(port),
        'tls-cert-file': certificate,
        'tls-key-file': key,
        'tls-ca-cert-file': certificate,
        'tls-auth-clients': 'no',
        ...config,
      },
    })
    onTestFinished(() => redis.stop())
    return { redis, port }
  }
  /** Runs a command in a process that trusts the certificate, or does not. */
  const run = (words: readonly string[], trusts = true) =>
    new Promise<{ code: number; out: string; err: string }>((resolve) => {
      const { NODE_EXTRA_CA_CERTS: _, ...env } = process.env
      const given = trusts ? { ...env, NODE_EXTRA_CA_CERTS: certificate } : env
      const child = execFile(
        process.execPath,
        [bin, ...words],
        { cwd: fixture, env: given },
        (_error, out, err) => resolve({ code: child.exitCode!, out, err }),
      )
    })
  return { start, run }
}

const explain = ['explain', 'shop:stock:a', '--url']
const stats = ['stats', '--json', '--url']
const both = [explain, stats]

async function withStock(redis: TemporaryRedis) {
  await redis.command('ACL', 'SETUSER', 'ann', 'on', '>p@ss', '+@all', '~*', '&*')
  await redis.command('SET', 'shop:stock:a', '7')
}

test.skipIf(!hasOpenssl)(
  'rediss:// is TLS both ways, by name and by address, and checks the certificate (needs openssl)',
  async () => {
    const { start, run } = await secured()
    const { redis, port } = await start({})
    await withStock(redis)
    for (const words of both) {
      for (const host of ['localhost', '127.0.0.1']) {
        const { code, out, err } = await run([...words, `rediss://ann:p%40ss@${host}:${port}`])
        expect([code, err]).toEqual([0, ''])
        expect(out).toContain('stock')
      }
      const unknown = await run([...words, `rediss://ann:p%40ss@localhost:${port}`], false)
      expect([unknown.code, unknown.err]).toEqual([3, expect.stringContaining('self-signed certificate')])
      expect((await run([...words, `redis://ann:p%40ss@localhost:${port}`])).code).toBe(3)
    }
  },
)

test.skipIf(!hasOpenssl)(
  'rediss:// of a node of a cluster is TLS to every node, that of a Sentinel to its master too (needs openssl)',
  async () => {
    const { start, run } = await secured()
    const tls = { 'tls-cluster': 'yes', 'tls-replication': 'yes' }
    const node = await start({ ...tls, 'cluster-enabled': 'yes' })
    await node.redis.command('CLUSTER', 'ADDSLOTS', ...Array.from({ length: 16_384 }, (_, slot) => slot))
    await eventually(async () =>
      expect(String(await node.redis.command('CLUSTER', 'INFO'))).toContain('cluster_state:ok'),
    )
    await withStock(node.redis)
    const cluster = await run([...stats, `rediss://ann:p%40ss@localhost:${node.port}`, '--cluster'])
    expect([cluster.code, cluster.err]).toEqual([0, ''])
    expect(cluster.out).toContain('"stock"')

    const master = await start(tls)
    await withStock(master.redis)
    const monitor = { 'sentinel monitor': `mymaster 127.0.0.1 ${master.port} 1` }
    const sentinel = await start({ ...tls, ...monitor }, ['--sentinel'])
    const behind = await run([
      ...stats,
      `rediss://ann:p%40ss@localhost:${sentinel.port}`,
      '--sentinel',
      'mymaster',
    ])
    expect([behind.code, behind.err]).toEqual([0, ''])
    expect(behind.out).toContain('"stock"')
  },
)

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  return typeof address === 'object' && address !== null ? address.port : 0
}

import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { once } from 'node:events'
import { join } from 'node:path'
import { startRedis } from 'keyspec/testing'
import { type Proxy, startProxy } from '../../../test-support/proxy.ts'
import type { Place, Started } from './topology.ts'

const USER = 'torture'
const PASSWORD = 'a-long-password'

/** Starts one server with a password, an ACL and TLS, behind a proxy for each actor. */
export async function startSecured({ folder }: Place): Promise<Started> {
  const files = certificates(folder)
  if (files === undefined)
    return { skipped: 'TLS needs certificates, and there is no `openssl` to make them' }
  const port = await freePort()
  const redis = await startRedis({
    port: 'any',
    config: {
      appendonly: 'yes',
      appendfsync: 'no',
      'busy-reply-threshold': '100',
      'tls-port': `${port}`,
      'tls-cert-file': files.certificate,
      'tls-key-file': files.key,
      'tls-ca-cert-file': files.ca,
      'tls-auth-clients': 'no',
      requirepass: PASSWORD,
      user: `${USER} on >${PASSWORD} ~* &* +@all -@dangerous +info +restore`,
    },
  })
  const secured = { ca: files.ca, user: USER, password: PASSWORD }
  const proxies: Proxy[] = []
  return {
    name: 'secured',
    clients: ['node-redis', 'ioredis', 'glide'],
    address: { kind: 'server', port, secured },
    async connect() {
      const proxy = await startProxy({ url: `redis://127.0.0.1:${port}` })
      proxies.push(proxy)
      return { address: { kind: 'server', port: proxy.port!, secured }, proxy }
    },
    servers: [redis],
    primary: async () => redis,
    ask: (...words) => redis.command(...words),
    async crash() {
      await redis.restart()
      return undefined
    },
    async stop() {
      await Promise.all(proxies.map((proxy) => proxy.stop()))
      await redis.stop()
    },
  }
}

/** Makes an authority, and a key with a certificate by it for 127.0.0.1; undefined without openssl. */
function certificates(folder: string): { ca: string; key: string; certificate: string } | undefined {
  const at = (name: string) => join(folder, name)
  const openssl = (...words: string[]) => execFileSync('openssl', words, { stdio: 'pipe', cwd: folder })
  const fresh = ['-newkey', 'rsa:2048', '-nodes']
  // GLIDE refuses a server that shows the certificate of an authority as its own.
  writeFileSync(at('leaf.txt'), 'basicConstraints=CA:FALSE\nsubjectAltName=DNS:localhost,IP:127.0.0.1\n')
  try {
    openssl(
      'req',
      '-x509',
      ...fresh,
      '-days',
      '2',
      '-subj',
      '/CN=torture',
      '-keyout',
      'ca.key',
      '-out',
      'ca.pem',
    )
    openssl('req', ...fresh, '-subj', '/CN=localhost', '-keyout', 'key.pem', '-out', 'leaf.csr')
    const signed = ['-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial', '-extfile', 'leaf.txt']
    openssl('x509', '-req', '-in', 'leaf.csr', ...signed, '-days', '2', '-out', 'certificate.pem')
    return { ca: at('ca.pem'), key: at('key.pem'), certificate: at('certificate.pem') }
  } catch {
    return undefined
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  return typeof address === 'object' && address !== null ? address.port : 0
}

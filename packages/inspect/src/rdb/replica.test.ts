import { once } from 'node:events'
import { type AddressInfo, createServer, Socket } from 'node:net'
import { expect, onTestFinished, test, vi } from 'vitest'
import { all } from '../../../../test-support/connected.ts'
import { type ReplicaTarget, replicaSnapshot } from './replica.ts'

/** A server that agrees to send a snapshot of a thousand bytes, and sends four of them. */
async function sender(): Promise<ReplicaTarget> {
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.on('data', (asked) => {
      for (const word of String(asked).match(/REPLCONF|PSYNC/g) ?? [])
        socket.write(word === 'PSYNC' ? '+FULLRESYNC id 1\r\n$1000\r\nREDI' : '+OK\r\n')
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return { host: '127.0.0.1', port: (server.address() as AddressInfo).port }
}

test.each<[string, () => Promise<ReplicaTarget>, RegExp]>([
  ['is not there', async () => ({ path: '/nowhere/redis.sock' }), /cannot be reached: connect ENOENT/],
  ['refuses', async () => ({ host: '127.0.0.1', port: 1 }), /cannot be reached: connect ECONNREFUSED/],
])('a server that %s is an error with a code and its cause', async (_, target, words) => {
  const failed = all(replicaSnapshot(await target()))
  await expect(failed).rejects.toMatchObject({ code: 'E_SNAPSHOT', fault: 'unreachable' })
  await expect(failed).rejects.toThrow(words)
  await expect(failed).rejects.toHaveProperty('cause.code', expect.stringMatching(/^E[A-Z]+$/))
})

test('a connection that breaks is an error with a code and its cause', async () => {
  // Not every system tells a reset from an end, so the socket is told of it here.
  const cause = Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' })
  const sockets: Socket[] = []
  const { setTimeout } = Socket.prototype
  const timers = vi.spyOn(Socket.prototype, 'setTimeout').mockImplementation(function (this: Socket, ms) {
    sockets.push(this)
    return setTimeout.call(this, ms)
  })
  onTestFinished(() => timers.mockRestore())
  const snapshot = replicaSnapshot(await sender())
  expect((await snapshot.next()).value).toEqual(Buffer.from('REDI'))
  sockets.at(-1)!.destroy(cause)
  const failed = snapshot.next()
  await expect(failed).rejects.toMatchObject({ code: 'E_SNAPSHOT', fault: 'unreachable', cause })
  await expect(failed).rejects.toThrow(
    'the connection was lost before the end of the snapshot: read ECONNRESET',
  )
})

test('a server that falls silent for a minute is given up, with a code', async () => {
  const { setTimeout } = Socket.prototype
  // A minute passes in 60 ms.
  const timers = vi.spyOn(Socket.prototype, 'setTimeout').mockImplementation(function (this: Socket, ms) {
    return setTimeout.call(this, ms >= 60_000 ? ms / 1000 : ms)
  })
  onTestFinished(() => timers.mockRestore())
  const failed = all(replicaSnapshot(await sender()))
  await expect(failed).rejects.toMatchObject({ code: 'E_SNAPSHOT', fault: 'unreachable' })
  await expect(failed).rejects.toThrow(/sends no snapshot: it says nothing for/)
  expect(timers).toHaveBeenCalledWith(60_000)
})

test('an aborted signal ends it with its own reason', async () => {
  const stopped = new AbortController()
  const reason = new Error('enough')
  const snapshot = replicaSnapshot(await sender(), stopped.signal)
  await snapshot.next()
  stopped.abort(reason)
  await expect(all(snapshot)).rejects.toBe(reason)
})

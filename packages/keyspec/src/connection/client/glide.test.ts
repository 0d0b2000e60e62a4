import { GlideClient, Logger } from '@valkey/valkey-glide'
import { expect, test } from 'vitest'
import { startProxy } from '../../../../../test-support/proxy.ts'
import { eventually, startRedis, unique } from '../../testing/index.ts'
import { ONE_KEY } from '../connection.ts'
import { fromGlide } from './glide.ts'

// GLIDE logs every time-out.
Logger.setLoggerConfig('off')

test.each(['requests', 'replies'] as const)(
  'of 150 commands at once, those that reject with E_NOT_SENT never reach the server if %s are lost',
  async (lost) => {
    await using redis = await startRedis({ port: 'any' })
    await using proxy = await startProxy(redis)
    const addresses = [{ host: '127.0.0.1', port: proxy.port! }]
    const client = await GlideClient.createClient({ addresses, requestTimeout: 1000 })
    try {
      // Those that GLIDE was not given by then are given up.
      const connection = fromGlide(client, { timeout: '400ms' })
      await connection.send(['PING'], { firstKey: 0, keyCount: 0 })
      proxy.stall(lost)
      const prefix = `${unique()}:`
      const keys = Array.from({ length: 150 }, (_, n) => `${prefix}${n}:`)
      const codes = await Promise.all(
        keys.map((key) =>
          connection.send(['INCR', key], ONE_KEY).then(
            () => 'answered',
            (error: unknown) => (error as { code: string }).code,
          ),
        ),
      )
      const those = (code: string) => keys.filter((_, index) => codes[index] === code)
      const [unsent, unknown] = [those('E_NOT_SENT'), those('E_UNKNOWN_OUTCOME')]
      // GLIDE is given 50 at a time.
      expect([unsent.length, unknown.length]).toEqual([100, 50])
      expect(unknown).toEqual(keys.slice(0, 50))
      const written = proxy.withheld('requests').toString()
      for (const key of unsent) expect(written).not.toContain(key)
      // What was withheld is delivered; the client can be used again behind it.
      await proxy.restore()
      await eventually(() => connection.send(['PING'], { firstKey: 0, keyCount: 0 }))
      for (const key of unsent) expect(await redis.command('EXISTS', key), key).toBe(0)
    } finally {
      client.close()
    }
  },
)

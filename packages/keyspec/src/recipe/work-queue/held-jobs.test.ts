import { expect, test } from 'vitest'
import { text } from '../../codec/text.ts'
import type { Connection, Reply } from '../../connection/connection.ts'
import { open } from '../../keyspace.ts'
import { workQueue } from './work-queue.ts'

test('jobs that are held come once each, the longest held first, though a scan shows some twice', async () => {
  const pages: Reply[] = [
    ['7', '3', '3 c', '50', '1', '1 a', '10'],
    ['9', '2', '2 b', '10', '3', '3 c', '5'],
    ['0', '1', '1 a', '99', '4', '4 d', '30'],
  ]
  const cursors: string[] = []
  const connection: Connection = {
    client: 'recording',
    cluster: false,
    masters: async () => [connection],
    async send(command) {
      const words = command.map(String)
      if (!words[0]!.startsWith('EVAL')) return 1
      cursors.push(words.find((word, at) => at > 3 && /^(?:0|7|9)$/.test(word))!)
      return pages.shift() ?? ['0']
    },
  }
  const schema = { mail: workQueue('mail', text, { lease: '1s' }) }
  const held = await open(schema, connection).mail().held('w')
  expect(held).toEqual([
    { id: '1', job: 'a' },
    { id: '2', job: 'b' },
    { id: '4', job: 'd' },
    { id: '3', job: 'c' },
  ])
  expect(cursors.slice(0, 3)).toEqual(['0', '7', '9'])
})

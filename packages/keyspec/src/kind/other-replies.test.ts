import { expect, test } from 'vitest'
import { bytes } from '../codec/bytes.ts'
import { integer } from '../codec/integer.ts'
import { text } from '../codec/text.ts'
import type { Connection, Reply } from '../connection/connection.ts'
import { open } from '../keyspace.ts'
import { cache, cappedList, dedupe, swapHash, swapSet, watermark, workQueue } from '../recipe/index.ts'
import { hash } from './hash.ts'
import { list } from './list.ts'
import { set } from './set.ts'
import { sortedSet } from './sorted-set.ts'
import { stream } from './stream.ts'
import { string } from './string.ts'

const forever = { ttl: 'forever', reason: 'a test' } as const
const schema = {
  note: string('note', text, { ttl: '1h' }),
  form: hash('form', { title: text }, forever),
  lines: list('lines', text, forever),
  tags: set('tags', text, forever),
  ranks: sortedSet('ranks', text, forever),
  events: stream('events', { n: integer }, forever),
  page: cache('page', text, { ttl: '1h' }),
  recent: cappedList('recent', text, { ...forever, most: 3 }),
  seen: dedupe('seen', text, forever),
  members: swapSet('members', text, { ...forever, staging: 'members:next' }),
  scores: swapHash('scores', bytes, integer, { ...forever, staging: 'scores:next' }),
  mark: watermark('mark', integer, forever),
  jobs: workQueue('jobs', text, { ...forever, lease: '1m', keepCompleted: 1 }),
}

/** A keyspace over a client that answers each command with the same reply. */
function answering(reply: Reply) {
  const connection: Connection = {
    client: 'odd',
    cluster: false,
    send: async () => reply,
    masters: async () => [connection],
  }
  return open(schema, connection)
}

type Keys = ReturnType<typeof answering>
const first = (all: AsyncGenerator) => all.next()

// Each is asked of a server that answers a text where a number or an array belongs, and a number where a text does.
const VERBS: [verb: string, reply: Reply, ask: (keys: Keys) => Promise<unknown>][] = [
  ['ttlMs', 'odd', ({ note }) => note().ttlMs()],
  ['many().exists', 'odd', ({ note }) => note.many([{}]).exists()],
  ['string.getAndDelete', 7, ({ page }) => page().getAndDelete()],
  ['string.update', 7, ({ note }) => note().update(() => 'b')],
  ['hash.get', 'odd', ({ form }) => form().get()],
  ['hash.getFields', 7, ({ form }) => form().getFields('title')],
  ['hash.fields', [7], ({ form }) => form().fields()],
  ['hash.size', 'odd', ({ form }) => form().size()],
  ['hash.remove', 'odd', ({ form }) => form().remove('title')],
  ['hash.scan', ['0', 'odd'], ({ form }) => first(form().scan())],
  ['list.range', 'odd', ({ lines }) => lines().range()],
  ['list.length', 'odd', ({ lines }) => lines().length()],
  ['list.indexOf', 'odd', ({ lines }) => lines().indexOf('a')],
  ['list.pushBack', 'odd', ({ lines }) => lines().pushBack('a')],
  ['list.insert', 'odd', ({ lines }) => lines().insert('a', { before: 'b' })],
  ['set.add', 'odd', ({ tags }) => tags().add('a')],
  ['set.hasMany', ['1'], ({ tags }) => tags().hasMany(['a'])],
  ['set.members', 7, ({ tags }) => tags().members()],
  ['set.scan', ['next', []], ({ tags }) => first(tags().scan())],
  ['sortedSet.add', 'odd', ({ ranks }) => ranks().add({ value: 'a', score: 1 })],
  ['sortedSet.range', 7, ({ ranks }) => ranks().range()],
  ['sortedSet.scores', 7, ({ ranks }) => ranks().scores(['a'])],
  ['sortedSet.rank', 'odd', ({ ranks }) => ranks().rank('a')],
  ['stream.add', 7, ({ events }) => events().add({ n: 1 })],
  ['stream.range', 7, ({ events }) => events().range()],
  ['stream.range of an entry that is none', [7], ({ events }) => events().range()],
  ['stream.readAfter', 7, ({ events }) => events().readAfter('0')],
  ['stream.length', 'odd', ({ events }) => events().length()],
  ['group.read', 7, ({ events }) => events().group('g').read('a')],
  ['group.pending', [7], ({ events }) => events().group('g').pending()],
  ['group.claim', 7, ({ events }) => events().group('g').claim('a', { idleFor: '1s' })],
  ['cappedList.list', 'odd', ({ recent }) => recent().list()],
  ['cappedList.size', 'odd', ({ recent }) => recent().size()],
  ['dedupe.size', 'odd', ({ seen }) => seen().size()],
  ['dedupe.forget', 'odd', ({ seen }) => seen().forget('a')],
  ['swapSet.members', 7, ({ members }) => members().members()],
  ['swapHash.scores', [7, 7], ({ scores }) => scores().scores()],
  ['watermark.get', 7, ({ mark }) => mark().get()],
  ['workQueue.peek', [7], ({ jobs }) => jobs().peek()],
  ['workQueue.running', 7, ({ jobs }) => jobs().running(1)],
  ['workQueue.result', 7, ({ jobs }) => jobs().result(1)],
  ['workQueue.failures', 7, ({ jobs }) => first(jobs().failures())],
]

test.each(VERBS)('%s rejects a reply of another form, and uses nothing of it', async (_, reply, ask) => {
  await expect(ask(answering(reply))).rejects.toMatchObject({ code: 'E_UNSUPPORTED_CLIENT' })
})

test('the error says which key, and what came in place of what', async () => {
  await expect(answering('odd').lines().length()).rejects.toThrow(
    'lines: the server answered string where an integer was expected, so the reply was not used',
  )
})

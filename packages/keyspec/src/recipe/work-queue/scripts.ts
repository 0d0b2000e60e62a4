import { flag, int, rest, serverNow, text } from '../../script/argument.ts'
import { integerReply, listReply, textReply, tupleReply } from '../../script/reply.ts'
import { script } from '../../script/script.ts'
import * as lua from './lua.gen.ts'

// The shared part on one line before the body, so that the line numbers of errors stay those of the verb's file.
const shared = lua.job
  .split('\n')
  .filter((line) => !line.trimStart().startsWith('--'))
  .map((line) => line.trim())
  .join(' ')
const body = (verb: string) => `${shared} ${verb}`

// What the shared part reads.
const job = { field: text, by: text, failedField: text, tallied: text }
const texts = listReply(textReply)

export const add = script('work-queue/add', {
  keys: ['waiting', 'recent', 'sequence', 'tallies*'],
  args: { ...job, now: serverNow, numbered: flag, head: text, remember: int, token: text, items: rest },
  lua: body(lua.add),
  reply: (reply) => {
    const [added, ...ids] = reply as readonly [number, ...string[]]
    return { added: integerReply(added), ids: ids.map(textReply) }
  },
})

export const turn = script('work-queue/turn', {
  keys: [
    'waiting',
    'inProgress',
    'holders',
    'deadlines',
    'attempts',
    'done',
    'finished',
    'failed',
    'errors',
    'tallies*',
  ],
  args: {
    ...job,
    now: serverNow,
    leaseMs: int,
    keepDone: int,
    keepErrors: flag,
    worker: text,
    take: int,
    items: rest,
  },
  lua: body(lua.turn),
  reply: tupleReply(texts, texts),
})

export const recover = script('work-queue/recover', {
  keys: ['waiting', 'inProgress', 'holders', 'deadlines', 'attempts', 'failed', 'errors', 'tallies*'],
  args: { ...job, now: serverNow, keepErrors: flag, allowed: int, most: int },
  lua: body(lua.recover),
  reply: tupleReply(texts, texts, integerReply),
})

export const renew = script('work-queue/renew', {
  keys: ['holders', 'deadlines'],
  args: { now: serverNow, leaseMs: int, worker: text, ids: rest },
  lua: lua.renew,
  reply: listReply(integerReply),
})

export const held = script('work-queue/held', {
  keys: ['inProgress', 'holders', 'deadlines'],
  args: { now: serverNow, leaseMs: int, worker: text },
  lua: lua.held,
  reply: texts,
})

export const stats = script('work-queue/stats', {
  keys: ['waiting', 'inProgress', 'done', 'failed', 'deadlines', 'tallies*'],
  args: { now: serverNow },
  lua: lua.stats,
  reply: tupleReply(integerReply, integerReply, integerReply, integerReply, integerReply, texts),
})

export const recount = script('work-queue/recount', {
  keys: ['waiting', 'tallies*'],
  args: job,
  lua: body(lua.recount),
  reply: integerReply,
})

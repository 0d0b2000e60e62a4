import { digits, flag, int, rest, serverNow, text } from '../../script/argument.ts'
import { arrayReply, integerReply, listReply, textReply, tupleReply } from '../../connection/reply.ts'
import { script } from '../../script/script.ts'
import * as lua from './lua.gen.ts'

// What the shared part reads.
const job = { field: text, by: text, failedField: text, tallied: text }
const texts = listReply(textReply)

export const add = script('work-queue/add', {
  keys: ['waiting', 'recent', 'sequence', 'counters*'],
  args: {
    ...job,
    now: serverNow,
    numbered: flag,
    head: text,
    dedupeWindow: int,
    token: text,
    step: digits,
    items: rest,
  },
  lua: lua.add,
  commands: ['GET', 'INCRBY', 'LLEN', 'MGET', 'PUBLISH', 'RPUSH', 'ZADD', 'ZREMRANGEBYRANK', 'ZSCORE'],
  reply: (reply) => {
    const [added, ...ids] = arrayReply(reply)
    return { added: integerReply(added ?? null), ids: ids.map(textReply) }
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
    'counters*',
  ],
  args: {
    ...job,
    now: serverNow,
    leaseMs: int,
    keepCompleted: int,
    keepErrors: flag,
    allowed: int,
    unheard: int,
    most: digits,
    worker: text,
    take: int,
    items: rest,
  },
  lua: lua.turn,
  commands: [
    'GET',
    'HDEL',
    'HEXISTS',
    'HLEN',
    'HMGET',
    'HRANDFIELD',
    'HSET',
    'INCRBY',
    'LLEN',
    'LPUSH',
    'LRANGE',
    'LTRIM',
    'MGET',
    'PUBLISH',
    'ZADD',
    'ZCARD',
    'ZRANGE',
    'ZRANGEBYSCORE',
    'ZREM',
    'ZSCORE',
  ],
  reply: tupleReply(texts, texts, texts, texts, integerReply, texts),
})

export const renew = script('work-queue/renew', {
  keys: ['holders', 'deadlines'],
  args: { now: serverNow, leaseMs: int, worker: text, ids: rest },
  lua: lua.renew,
  commands: ['HMGET', 'ZADD'],
  reply: listReply(integerReply),
})

export const confirm = script('work-queue/confirm', {
  keys: ['holders', 'deadlines'],
  args: { worker: text, ids: rest },
  lua: lua.confirm,
  commands: ['HMGET', 'ZADD', 'ZSCORE'],
  reply: integerReply,
})

export const held = script('work-queue/held', {
  keys: ['holders', 'inProgress', 'deadlines'],
  args: { now: serverNow, leaseMs: int, worker: text, cursor: text, size: digits },
  lua: lua.held,
  commands: ['HMGET', 'HSCAN', 'ZADD', 'ZSCORE'],
  reply: texts,
})

export const repair = script('work-queue/repair', {
  keys: ['waiting', 'inProgress', 'holders', 'deadlines', 'attempts'],
  args: { now: serverNow, leaseMs: int, part: text, cursor: text, size: digits },
  lua: lua.repair,
  commands: ['HDEL', 'HMGET', 'HSCAN', 'LLEN', 'ZADD', 'ZREM', 'ZSCAN', 'ZSCORE'],
  reply: tupleReply(textReply, integerReply),
})

export const stats = script('work-queue/stats', {
  keys: ['waiting', 'inProgress', 'holders', 'done', 'failed', 'deadlines', 'counters*'],
  args: { now: serverNow },
  lua: lua.stats,
  commands: ['GET', 'HLEN', 'LLEN', 'ZCARD', 'ZCOUNT'],
  reply: tupleReply(
    integerReply,
    integerReply,
    integerReply,
    integerReply,
    integerReply,
    integerReply,
    integerReply,
    texts,
  ),
})

export const recount = script('work-queue/recount', {
  keys: ['waiting', 'counters*'],
  args: { ...job, most: int },
  lua: lua.recount,
  commands: ['GET', 'LLEN', 'LRANGE', 'SET'],
  reply: integerReply,
})

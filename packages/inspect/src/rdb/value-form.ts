/**
 * What a piece of an RDB file is made of, in turn: a string, a length, a score of old sorted sets, a module's own pieces up
 * to their end, so many bytes, or a length and then that many times what the list says.
 */
export type Form = readonly (Part | number | Form)[]

/** One part of a form. */
export type Part = typeof STRING | typeof LENGTH | typeof SCORE | typeof PIECES

export const STRING = 'string'
export const LENGTH = 'length'
export const SCORE = 'score'
export const PIECES = 'pieces'

/** How a value of one type of the RDB format is kept. */
export interface ValueForm {
  /** What TYPE says of it; `undefined` for a module's, whose name stands in the value. */
  readonly type: string | undefined
  /** What OBJECT ENCODING says; `undefined` where the value itself decides. */
  readonly encoding: string | undefined
  readonly form: Form
  /** Whether it is one string and nothing else. */
  readonly plain: boolean
}

const ID = [LENGTH, LENGTH] as const
// Of each entry that a group waits for: its id, when it was delivered, how often. Then the consumers, and what each has.
const group = (offset: Form, consumer: Form): Form => [
  STRING,
  ...ID,
  ...offset,
  [24, LENGTH],
  [STRING, ...consumer, [16]],
]
const stream = (head: Form, groups: Form): Form => [[STRING, STRING], LENGTH, ...ID, ...head, groups]
// The first id, the highest deleted one, and how many were ever added (Redis 7).
const SINCE_7: Form = [...ID, ...ID, LENGTH]

/** By the numbers of `rdb.h`: Redis up to 8.0 (RDB 12), Valkey up to 8 (RDB 11). */
const FORMS: readonly (readonly [number, string | undefined, string | undefined, Form])[] = [
  [0, 'string', undefined, [STRING]],
  [1, 'list', 'linkedlist', [[STRING]]],
  [2, 'set', 'hashtable', [[STRING]]],
  [3, 'zset', 'skiplist', [[STRING, SCORE]]],
  [4, 'hash', 'hashtable', [[STRING, STRING]]],
  [5, 'zset', 'skiplist', [[STRING, 8]]],
  [7, undefined, 'raw', [LENGTH, PIECES]],
  [9, 'hash', 'zipmap', [STRING]],
  [10, 'list', 'ziplist', [STRING]],
  [11, 'set', 'intset', [STRING]],
  [12, 'zset', 'ziplist', [STRING]],
  [13, 'hash', 'ziplist', [STRING]],
  [14, 'list', 'quicklist', [[STRING]]],
  [15, 'stream', 'stream', stream([], group([], [8]))],
  [16, 'hash', 'listpack', [STRING]],
  [17, 'zset', 'listpack', [STRING]],
  [18, 'list', undefined, [[LENGTH, STRING]]],
  [19, 'stream', 'stream', stream(SINCE_7, group([LENGTH], [8]))],
  [20, 'set', 'listpack', [STRING]],
  [21, 'stream', 'stream', stream(SINCE_7, group([LENGTH], [16]))],
  [22, 'hash', 'hashtable', [[LENGTH, STRING, STRING]]],
  [23, 'hash', 'listpackex', [STRING]],
  [24, 'hash', 'hashtable', [8, [LENGTH, STRING, STRING]]],
  [25, 'hash', 'listpackex', [8, STRING]],
]

/** The forms of values by their type in the file. */
export const VALUE_FORMS: readonly (ValueForm | undefined)[] = byNumber(FORMS)

/** The same for Valkey from version 9 (RDB 80) on, which means another thing by 22. */
export const VALKEY_FORMS: readonly (ValueForm | undefined)[] = byNumber([
  ...FORMS.filter(([number]) => number < 22),
  [22, 'hash', 'hashtable', [[STRING, STRING, 8]]],
])

function byNumber(forms: typeof FORMS): (ValueForm | undefined)[] {
  const all = Array.from({ length: 256 }, (): ValueForm | undefined => undefined)
  for (const [number, type, encoding, form] of forms)
    all[number] = { type, encoding, form, plain: form.length === 1 && form[0] === STRING }
  return all
}

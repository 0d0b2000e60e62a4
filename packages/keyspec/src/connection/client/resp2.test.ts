import { describe, expect, test } from 'vitest'
import { asResp2, flattened } from './resp2.ts'

/** A reply as a client makes it of RESP3, and as RESP2 has it, read as text and as bytes. */
const bytes = (text: string) => Buffer.from(text)

describe('the RESP2 form of a reply', () => {
  test.each([
    [true, 1],
    [false, 0],
    [null, null],
    [7, 7],
  ])('%j of any command is %j', (reply, expected) => {
    for (const name of ['SISMEMBER', 'EVAL', 'ZSCORE']) {
      expect(asResp2(reply, [name], false)).toBe(expected)
      expect(asResp2(reply, [name], true)).toBe(expected)
    }
  })

  test('what no command makes another is the very same', () => {
    const reply = [['a', 'b'], 'c']
    expect(asResp2(reply, ['MGET', 'a'], true)).toBe(reply)
    expect(asResp2('text', ['GET', 'a'], true)).toBe('text')
  })

  test.each(
    'ZRANGE ZREVRANGE ZRANGEBYSCORE ZREVRANGEBYSCORE ZRANDMEMBER ZUNION ZINTER ZDIFF ZPOPMIN ZPOPMAX'.split(
      ' ',
    ),
  )('%s: members with scores stand in one row', (name) => {
    const reply = [
      ['a', '1.5'],
      ['b', '2'],
    ]
    expect(asResp2(reply, [name], false)).toEqual(['a', '1.5', 'b', '2'])
    expect(asResp2([[bytes('a'), '1.5']], [name], true)).toEqual([bytes('a'), bytes('1.5')])
    expect(asResp2(['a', 'b'], [name], false)).toEqual(['a', 'b'])
    expect(asResp2([], [name], true)).toEqual([])
  })

  test('HRANDFIELD: fields with values stand in one row, as they came', () => {
    expect(asResp2([['f', 'v']], ['HRANDFIELD'], false)).toEqual(['f', 'v'])
    expect(asResp2(['f', 'g'], ['HRANDFIELD'], true)).toEqual(['f', 'g'])
    expect(asResp2('f', ['HRANDFIELD'], true)).toBe('f')
  })

  test.each(
    'ZSCORE ZMSCORE ZINCRBY ZADD GEODIST GEOPOS GEOSEARCH ZMPOP BZMPOP BZPOPMIN BZPOPMAX ZRANK ZREVRANK'.split(
      ' ',
    ),
  )('%s: a double is text, or bytes where bytes are asked', (name) => {
    expect(asResp2('1.5', [name], false)).toBe('1.5')
    expect(asResp2('1.5', [name], true)).toEqual(bytes('1.5'))
    expect(asResp2([bytes('k'), [['m', '2']]], [name], true)).toEqual([
      bytes('k'),
      [[bytes('m'), bytes('2')]],
    ])
    expect(asResp2(['k', [['m', '2']]], [name], false)).toEqual(['k', [['m', '2']]])
    expect(asResp2([null, 1], [name], true)).toEqual([null, 1])
  })

  test.each(['XREAD', 'XREADGROUP'])('%s: each stream stands with its entries', (name) => {
    expect(asResp2(['s', [['1-0', ['f', 'v']]], 't', []], [name], false)).toEqual([
      ['s', [['1-0', ['f', 'v']]]],
      ['t', []],
    ])
    const already = [['s', [['1-0', ['f', 'v']]]]]
    expect(asResp2(already, [name], false)).toBe(already)
    expect(asResp2('QUEUED', [name], false)).toBe('QUEUED')
  })

  test.each(['EVAL', 'EVALSHA', 'EVAL_RO', 'EVALSHA_RO', 'FCALL', 'FCALL_RO'])(
    '%s: booleans at any depth are 1 and 0, and nothing else changes',
    (name) => {
      expect(asResp2([true, 'a', [false, [true, null, 3]]], [name], false)).toEqual([
        1,
        'a',
        [0, [1, null, 3]],
      ])
      expect(asResp2('text', [name], true)).toBe('text')
      const buffer = bytes('true')
      expect(asResp2([buffer], [name], true)).toEqual([buffer])
    },
  )

  test('flattened leaves alone what does not nest', () => {
    expect(flattened('a', false)).toBe('a')
    expect(flattened(['a', ['b']], false)).toEqual(['a', ['b']])
    expect(flattened([['a', ['b']]], false)).toEqual(['a', ['b']])
  })
})

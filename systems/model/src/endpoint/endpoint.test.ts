import * as v from 'valibot'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'

import { vectorise } from '../embedded/embedder.ts'
import { UpstreamError } from '@keyspec-systems/program/upstream'
import { openModel } from '../open-model.ts'
import { modelStandInName, startModelStandIn } from '../stand-in/model-stand-in.ts'
import type { StandIn } from '../stand-in/server.ts'

let standIn: StandIn
let reply: (() => unknown) | undefined
let sleeps: number[]

beforeEach(async () => {
  sleeps = []
  reply = undefined
  standIn = await startModelStandIn({ apiKey: 'sk-right' })
})

afterEach(() => standIn.close())

function open(more: Record<string, string> = {}) {
  const environment = {
    MODEL_BASE_URL: standIn.url,
    MODEL_API_KEY: 'sk-right',
    MODEL_NAME: 'tutor-large',
    EMBEDDING_MODEL_NAME: 'text-embedding-3-small',
    ...more,
  }
  const sleep = async (ms: number) => void sleeps.push(ms)
  return openModel(environment, { backoffMs: 100, sleep, random: () => 0.5 })
}

const failure = (promise: Promise<unknown>) =>
  promise.then(
    () => expect.unreachable('it should have failed'),
    (error: unknown) => error as UpstreamError,
  )

describe('embeddings from an endpoint', () => {
  test('come in the order of the texts, over as many calls as that takes', async () => {
    const texts = Array.from({ length: 130 }, (_, index) => `text number ${index}`)
    const vectors = await open().embedder.embed(texts)
    expect(standIn.requests()).toBe(2)
    expect(vectors).toHaveLength(130)
    expect(vectors[129]).toEqual(vectorise('text number 129'))
  })

  test('have the dimensions that were asked for', async () => {
    const [vector] = await open({ EMBEDDING_DIMENSIONS: '256' }).embedder.embed(['sea'])
    expect(vector).toHaveLength(256)
  })

  test('of an empty text are not asked for', async () => {
    await expect(open().embedder.embed(['sea', ' '])).rejects.toThrow('empty text')
    expect(standIn.requests()).toBe(0)
  })
})

describe('answers from an endpoint', () => {
  const passages = [{ id: 'mill', title: 'The mill', text: 'The mill was built in 1623.' }]

  test('name the model that was configured and their sources', async () => {
    const answer = await open().answerer.answer('When was the mill built?', passages)
    expect(answer).toEqual({
      answer: 'The mill was built in 1623.',
      confidence: 1,
      sources: ['mill'],
      model: 'tutor-large',
    })
  })

  test.each([
    [
      'in a Markdown fence',
      '```json\n{"answer":"1623","confidence":1,"sources":["mill","invented"]}\n```',
      undefined,
    ],
    ['not JSON', 'Certainly! In 1623.', 'unreadable'],
    ['of another shape', { answer: '1623', confidence: 7, sources: [] }, 'unreadable'],
  ])('that are %s', async (_case, said, reason) => {
    await standIn.close()
    reply = () => said
    standIn = await startModelStandIn({ reply: () => reply?.() })
    const answered = open().answerer.answer('When?', passages)
    if (reason === undefined) expect(await answered).toMatchObject({ answer: '1623', sources: ['mill'] })
    else expect(await failure(answered)).toMatchObject({ code: 'E_UPSTREAM', reason })
  })

  test('are validated against the schema of the prompt, which goes along', async () => {
    await standIn.close()
    standIn = await startModelStandIn({
      reply: ({ name, system }) => ({ said: `${name}: ${system.includes('"said"')}` }),
    })
    const schema = v.object({ said: v.string() })
    const said = await open().chat!.ask({ name: 'echo', system: 'Say.', user: 'x', schema })
    expect(said).toEqual({ said: 'echo: true' })
  })
})

describe('an endpoint in bad weather', () => {
  test('that is busy is asked again after what Retry-After says, with jitter on top', async () => {
    standIn.fail({ fault: 'limited', retryAfterSeconds: 2 })
    standIn.fail({ fault: 'limited' })
    expect(await open().embedder.embed(['sea'])).toHaveLength(1)
    expect(sleeps).toEqual([2050, 100])
  })

  test('that asks for more patience than there is fails at once and says how long', async () => {
    standIn.fail({ fault: 'limited', retryAfterSeconds: 3600 })
    const error = await failure(open().embedder.embed(['sea']))
    expect(error).toMatchObject({ reason: 'limited', status: 429, retryAfterMs: 3_600_000 })
    expect(sleeps).toEqual([])
  })

  test.each(['unavailable', 'cut'] as const)(
    '(%s) is asked four times at most, ever more slowly',
    async (fault) => {
      standIn.fail({ fault, times: 3 })
      expect(await open().embedder.embed(['sea'])).toHaveLength(1)
      expect(sleeps).toEqual([50, 100, 200])
      standIn.fail({ fault, times: 4 })
      const error = await failure(open().embedder.embed(['sea']))
      expect(error).toBeInstanceOf(UpstreamError)
      expect(error.reason).toBe(fault === 'cut' ? 'unreachable' : 'unavailable')
    },
  )

  test('that never answers is timed out', async () => {
    standIn.fail({ fault: 'silent', times: 4 })
    const error = await failure(open({ MODEL_TIMEOUT_MS: '50' }).embedder.embed(['sea']))
    expect(error).toMatchObject({ reason: 'timed-out', service: 'the embedding endpoint' })
    expect(sleeps).toHaveLength(3)
  })

  test('that answers garbage is named, with what it said, and not asked again', async () => {
    standIn.fail({ fault: 'garbage' })
    const error = await failure(open().embedder.embed(['sea']))
    expect(error).toMatchObject({ reason: 'unreadable' })
    expect(error.message).toContain('Down for maintenance')
    expect(standIn.requests()).toBe(1)
  })

  test('that is not there is unreachable', async () => {
    await standIn.close()
    const error = await failure(open().embedder.embed(['sea']))
    expect(error).toMatchObject({ reason: 'unreachable' })
    standIn = await startModelStandIn()
  })

  test('that refuses the key and repeats it does not make us repeat it', async () => {
    const error = await failure(open({ MODEL_API_KEY: 'sk-wrong' }).embedder.embed(['sea']))
    expect(error).toMatchObject({ reason: 'credentials', status: 401 })
    expect(error.message).toContain('[secret]')
    expect(error.message).not.toContain('sk-wrong')
    expect(standIn.requests()).toBe(1)
  })

  test('is left alone once the caller has gone', async () => {
    standIn.fail({ fault: 'silent' })
    const caller = new AbortController()
    const asked = open().embedder.embed(['sea'], caller.signal)
    caller.abort(new Error('gone'))
    await expect(asked).rejects.toThrow('gone')
  })
})

test('the stand-in says what it is, and takes faults over HTTP', async () => {
  const planned = await fetch(new URL('/stand-in/faults', standIn.url), {
    method: 'POST',
    body: JSON.stringify({ fault: 'limited', retryAfterSeconds: 1 }),
  })
  expect(planned.headers.get('server')).toBe(modelStandInName)
  expect((await fetch(`${standIn.url}/embeddings`, { method: 'POST', body: '{}' })).status).toBe(429)
})

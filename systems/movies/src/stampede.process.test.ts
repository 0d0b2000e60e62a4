import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

import { openModel } from '@keyspec-systems/model'
import { startModelStandIn } from '@keyspec-systems/model/stand-in'
import { startRedis } from 'keyspec/testing'
import { expect, onTestFinished, test } from 'vitest'

import { loadCatalogue } from './catalogue/catalogue.ts'
import { startTmdbStandIn } from './tmdb/stand-in.ts'
import { embeddedUnderstander } from './understanding/embedded.ts'
import { graphUnderstander } from './understanding/graph.ts'

const catalogue = loadCatalogue()
const rules = embeddedUnderstander(catalogue)

async function start(environment: Record<string, string>): Promise<string> {
  const child = fork(fileURLToPath(new URL('../program/server/server-main.js', import.meta.url)), [], {
    env: { PATH: process.env['PATH'], ...environment } as unknown as NodeJS.ProcessEnv,
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  const exit = once(child, 'exit')
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await exit
  })
  const [first] = (await Promise.race([once(child, 'message'), exit])) as [{ url: string } | number]
  if (typeof first !== 'object') throw new Error(`the search ended with ${first}`)
  return first.url
}

test('a cold start asks the graph and TMDB once for a query and a film, however many ask in three processes', async () => {
  const redis = await startRedis()
  onTestFinished(() => redis.stop())
  const understood = new Map<string, number>()
  const model = await startModelStandIn({
    async reply({ name, user }) {
      understood.set(name, (understood.get(name) ?? 0) + 1)
      let part: unknown = await rules.understand(user)
      for (const field of name.split('-')) part = (part as Record<string, unknown>)[field]
      return part
    },
  })
  onTestFinished(() => model.close())
  const tmdb = await startTmdbStandIn(catalogue)
  onTestFinished(() => tmdb.close())

  const language = { MODEL_BASE_URL: model.url, MODEL_NAME: 'film-expert' }
  const environment = {
    ...language,
    MOVIES_ENV: 'test',
    REDIS_URL: redis.url,
    TMDB_TOKEN: 'tmdb-token',
    TMDB_BASE_URL: `${tmdb.url}/3`,
    MOVIES_QU_VERSION: '7',
    MOVIES_QU_FINGERPRINT: graphUnderstander(openModel(language).chat!).fingerprint,
  }
  const urls = await Promise.all([start(environment), start(environment), start(environment)])
  const ask = (path: string) =>
    Promise.all(
      urls.flatMap((url) => Array.from({ length: 4 }, async () => (await fetch(url + path)).json())),
    )

  const found = await ask('/search?q=funny+films+from+the+90s')
  for (const each of found) expect(each).toEqual(found[0])
  expect([...understood.values()]).toEqual(Array.from({ length: 24 }, () => 1))

  const details = await ask('/movie/100')
  for (const each of details) expect(each).toMatchObject({ id: 100, source: 'tmdb' })
  // One to find the film's id at TMDB, one for its detail.
  expect(tmdb.requests()).toBe(2)
})

test.each([
  ['server/server-main.js', {}, 'MOVIES_ENV is not set'],
  ['main.js', { MOVIES_ENV: 'prod:' }, 'MOVIES_ENV is "prod:"; it may hold letters, digits, - and _'],
])('%s does not start without a good name of its environment', async (program, env, words) => {
  const child = fork(fileURLToPath(new URL(`../program/${program}`, import.meta.url)), [], {
    env: {
      PATH: process.env['PATH'],
      REDIS_URL: 'redis://127.0.0.1:1',
      ...env,
    } as unknown as NodeJS.ProcessEnv,
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  })
  let said = ''
  child.stderr!.on('data', (chunk: Buffer) => (said += chunk.toString()))
  const [code] = (await once(child, 'close')) as [number]
  expect(code).toBe(1)
  expect(said).toContain(words)
})

import { openModel } from '@keyspec-systems/model'
import { startModelStandIn, type Asking, type StandIn } from '@keyspec-systems/model/stand-in'
import { afterEach, expect, test } from 'vitest'

import { loadCatalogue } from '../catalogue/catalogue.ts'
import { embeddedUnderstander } from './embedded.ts'
import { openUnderstander } from './open-understander.ts'

const catalogue = loadCatalogue()
const rules = embeddedUnderstander(catalogue)
const query = 'trending thrillers by Steven Spielberg from the 90s'
let standIn: StandIn

afterEach(() => standIn.close())

/** Answers each of the graph's questions with the same part of what the rules understand. */
async function byRules({ name, user }: Asking): Promise<unknown> {
  let part: unknown = await rules.understand(user)
  for (const field of name.split('-')) part = (part as Record<string, unknown>)[field]
  return part
}

async function open(reply: (asking: Asking) => unknown, name = 'film-expert') {
  standIn = await startModelStandIn({ reply })
  const model = openModel({ MODEL_BASE_URL: standIn.url, MODEL_NAME: name }, { sleep: async () => {} })
  return openUnderstander(model, catalogue)
}

test('24 questions to the language model make one understanding', async () => {
  const understander = await open(byRules)
  expect(await understander.understand(query)).toEqual(await rules.understand(query))
  expect(standIn.requests()).toBe(24)
})

test('one wrong part fails the whole', async () => {
  const understander = await open((asking) =>
    asking.name.startsWith('vector_weights') ? 'large' : byRules(asking),
  )
  await expect(understander.understand(query)).rejects.toMatchObject({
    code: 'E_UPSTREAM',
    reason: 'unreadable',
  })
})

test('a part that is busy is asked again', async () => {
  const understander = await open(byRules)
  standIn.fail({ fault: 'limited', times: 3 })
  expect(await understander.understand(query)).toEqual(await rules.understand(query))
  expect(standIn.requests()).toBe(27)
})

test('another model is another fingerprint', async () => {
  const first = await open(byRules)
  await standIn.close()
  expect((await open(byRules, 'another')).fingerprint).not.toBe(first.fingerprint)
})

import { afterAll, beforeAll, expect, test } from 'vitest'

import { invent } from './invented-docket.ts'
import { startStandIn, type StandIn } from './stand-in.ts'

let standIn: StandIn

beforeAll(async () => {
  standIn = await startStandIn()
})

afterAll(() => standIn.close())

test('says in every answer that it is a stand-in', async () => {
  const response = await fetch(`${standIn.url}/dockets/`, { headers })
  expect(response.headers.get('server')).toBe('stand-in for CourtListener')
})

test('pages by 20 with a cursor, and the address of the count instead of a count', async () => {
  const { body } = await get('/dockets/')
  expect(body.results).toHaveLength(20)
  expect(body.previous).toBeNull()
  expect(body.count).toBe(`${standIn.url}/dockets/?count=on`)
  const next = new URL(body.next)
  const { body: second } = await get(`/dockets/${next.search}`)
  expect(second.results).toHaveLength(20)
  expect(second.results[0].id).toBeLessThan(body.results[19].id)
})

test.each([undefined, 'Token wrong', 'Bearer stand-in-token', 'stand-in-token'])(
  'answers 401 to the authorization %s',
  async (authorization) => {
    const response = await fetch(`${standIn.url}/dockets/`, {
      headers: authorization === undefined ? {} : { Authorization: authorization },
    })
    expect(response.status).toBe(401)
  },
)

test('throttles a token over its limit, and says when the hour is over', async () => {
  const small = await startStandIn({ dockets: 1, callLimit: 2 })
  const statuses: number[] = []
  let retryAfter = 0
  for (let call = 0; call < 4; call += 1) {
    const response = await fetch(`${small.url}/dockets/`, { headers })
    statuses.push(response.status)
    retryAfter = Number(response.headers.get('retry-after'))
  }
  expect(statuses).toEqual([200, 200, 429, 429])
  expect(retryAfter).toBeGreaterThan(3500)
  expect(retryAfter).toBeLessThanOrEqual(3600)
  await small.close()
})

test.each([
  ['/dockets/?colour=red', 400],
  ['/dockets/?order_by=colour', 400],
  ['/dockets/?id__gt=x', 400],
  ['/dockets/?cursor=nonsense', 404],
  ['/dockets/1/', 404],
  ['/dockets/%E0%A4%A/', 404],
  ['/courts/', 404],
])('answers %s with %i', async (path, status) => {
  expect((await get(path)).status).toBe(status)
})

test('takes faults over HTTP, for the paths that they name', async () => {
  const plan = (body: string) => fetch(new URL('/stand-in/faults', standIn.url), { method: 'POST', body })
  const [docket] = standIn.dockets
  expect((await plan(`{"fault":"unavailable","path":"/dockets/${docket!.id}"}`)).status).toBe(200)
  expect((await get('/dockets/')).status).toBe(200)
  expect((await get(`/dockets/${docket!.id}/`, false)).status).toBe(500)
  expect((await get(`/dockets/${docket!.id}/`)).status).toBe(200)
  expect((await plan('{"fault":"earthquake"}')).status).toBe(400)
  expect((await plan('not JSON')).status).toBe(400)
})

test('its dockets are as many as asked for, and the same each time', () => {
  expect(standIn.dockets).toHaveLength(300)
  expect(standIn.dockets).toEqual(invent())
  expect(invent({ seed: 1 })).not.toEqual(invent())
  expect(new Set(invent({ dockets: 5_000 }).map(({ id }) => id)).size).toBe(5_000)
})

const headers = { Authorization: 'Token stand-in-token' }

async function get(path: string, isJson = true) {
  const response = await fetch(`${standIn.url}${path}`, { headers })
  // oxlint-disable-next-line typescript/no-explicit-any
  return { status: response.status, body: isJson ? ((await response.json()) as any) : await response.text() }
}

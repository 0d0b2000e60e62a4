import { startRedis, type TemporaryRedis, unique } from 'keyspec/testing'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { type Python, startPython } from '../../../test-support/python.ts'
import { cleanup } from './cleanup.ts'
import { openCourtlistener } from './keyspace.ts'
import { defaults } from './settings.ts'
import { failuresIn } from './state/failures.ts'
import { runState, unfinishedRun } from './state/run-state.ts'
import { taskTiming } from './state/task-timing.ts'

let redis: TemporaryRedis
let interpreter: Python

beforeAll(async () => {
  interpreter = startPython()
  redis = await startRedis()
})

afterAll(async () => {
  interpreter.stop()
  await redis.stop()
})

async function opened(settings = {}) {
  const prefix = `${unique()}:`
  const all = openCourtlistener({ url: redis.url, prefix, settings: { ...defaults, ...settings } })
  onTestFinished(() => all.close())
  await all.ready()
  return { ...all, prefix }
}

/** Runs Python over the same Redis, with `r` the client and `p` the prefix; answers the JSON that it prints. */
async function python(prefix: string, lines: string): Promise<unknown> {
  const program = `
import ast, datetime, json, sys, redis
r = redis.Redis(unix_socket_path=sys.argv[1], decode_responses=True)
p = sys.argv[2]
${lines}`
  const printed = await interpreter.run(program, redis.socket, prefix)
  return printed === '' ? undefined : JSON.parse(printed)
}

const runId = 'manual_2024-09-17T14:30:00+00:00'
const hour = new Date('2024-09-17T14:59:59Z')
const ttlOf = async (key: string) => (await redis.command('TTL', key)) as number

test('the quota and a Python program that follows the document count each other’s calls', async () => {
  const { keys, prefix } = await opened({ callLimitPerHour: 40, safetyBuffer: 10 })
  const calls = keys.calls()
  expect(calls.limit).toBe(30)
  const { window } = await calls.take(5)
  const names = calls.namesAt(window)
  const hourKey = `${window.toISOString().slice(0, 10)}_${window.toISOString().slice(11, 13)}`
  expect(names).toEqual([
    `${prefix}courtlistener:rate_limit:${hourKey}`,
    `${prefix}courtlistener:counter:${hourKey}`,
  ])
  for (const name of names) {
    expect(await redis.command('TYPE', name)).toBe('string')
    expect(await ttlOf(name)).toBeGreaterThan(7190)
    expect(await ttlOf(name)).toBeLessThanOrEqual(7200)
  }
  const script = `
current = int(r.get(p + 'courtlistener:rate_limit:${hourKey}'))
same = int(r.get(p + 'courtlistener:counter:${hourKey}'))
count = r.incr(p + 'courtlistener:rate_limit:${hourKey}', 3)
script = """${documentScript}"""
counted = r.eval(script, 1, p + 'courtlistener:counter:${hourKey}', 15, 4975, 7200)
print(json.dumps([current, same, count, counted]))`
  expect(await python(prefix, script)).toEqual([5, 5, 8, [20, 1]])
  expect(await calls.peek()).toMatchObject({ used: 20, remaining: 10 })
  expect(await calls.take(11)).toMatchObject({ allowed: false })
  expect(await calls.take(10)).toMatchObject({ allowed: true, used: 30 })
  expect(await redis.command('MGET', ...names)).toEqual(['30', '30'])
})

test('a run is what Python reads in the document’s spelling, types and time to live', async () => {
  const { keys, prefix } = await opened()
  const state = runState(keys, runId, () => new Date('2024-09-17T14:30:00.123Z'))
  await state.initialise()
  await state.finish('12345', '12346')
  await state.move('running')
  await state.publish({ always: true })
  await state.update({ api_calls_this_hour: 1247 })
  const key = `${prefix}courtlistener:pipeline:${runId}`
  expect(await redis.command('TYPE', key)).toBe('hash')
  expect(await ttlOf(key)).toBeGreaterThan(89_990)
  expect(await ttlOf(key)).toBeLessThanOrEqual(90_000)
  const read = `
state = r.hgetall(p + 'courtlistener:pipeline:${runId}')
state['dockets_processed'] = sorted(ast.literal_eval(state['dockets_processed']))
state['redis_keys'] = ast.literal_eval(state['redis_keys'])
start = datetime.datetime.fromisoformat(state['start_time'])
print(json.dumps([state, start.microsecond, start.tzinfo is None]))`
  expect(await python(prefix, read)).toEqual([
    {
      dag_run_id: runId,
      start_time: '2024-09-17T14:30:00.123000',
      current_hour: '2024-09-17_14',
      api_calls_this_hour: '1247',
      status: 'running',
      dockets_processed: ['12345', '12346'],
      redis_keys: {
        state_key: key,
        counter_key: `${prefix}courtlistener:rate_limit:2024-09-17_14`,
        fallback_key: `${prefix}courtlistener:counter:2024-09-17_14`,
        failed_key: `${prefix}courtlistener:failed:2024-09-17_14`,
      },
      last_updated: '2024-09-17T14:30:00.123000',
    },
    123_000,
    true,
  ])
})

test.each([
  ['str', 'str'],
  ['JSON', 'json.dumps'],
])('a run that Python writes with %s is read', async (_name, spell) => {
  const { keys, prefix } = await opened()
  await python(
    prefix,
    `
r.hset(p + 'courtlistener:pipeline:${runId}', mapping={
  'dag_run_id': '${runId}', 'start_time': datetime.datetime(2024, 9, 17, 14, 30, 0, 123456).isoformat(),
  'current_hour': '2024-09-17_14', 'api_calls_this_hour': 1247, 'status': 'running',
  'dockets_processed': ${spell}(['12345', '12346']), 'redis_keys': ${spell}({'state_key': "it's"}),
  'last_updated': datetime.datetime(2024, 9, 17, 14, 31).isoformat()})`,
  )
  expect(await keys.run({ dagRunId: runId }).get()).toEqual({
    dag_run_id: runId,
    start_time: new Date('2024-09-17T14:30:00.123Z'),
    current_hour: '2024-09-17_14',
    api_calls_this_hour: 1247,
    status: 'running',
    dockets_processed: ['12345', '12346'],
    redis_keys: { state_key: "it's" },
    last_updated: new Date('2024-09-17T14:31:00Z'),
  })
  expect(await unfinishedRun(keys)).toBe(runId)
})

test('a task’s start goes both ways, and its key is read back from the right', async () => {
  const { keys, prefix } = await opened()
  const timing = taskTiming(keys, runId)
  await timing.start('process_docket_123', new Date('2024-09-17T14:35:22.456Z'))
  const key = `${prefix}courtlistener:task_start:${runId}:process_docket_123`
  expect(await redis.command('TYPE', key)).toBe('string')
  expect(await ttlOf(key)).toBeGreaterThan(89_990)
  expect(keys.taskStart.parse(key)).toEqual({ dagRunId: runId, taskId: 'process_docket_123' })
  const both = `
at = datetime.datetime.fromisoformat(r.get(p + 'courtlistener:task_start:${runId}:process_docket_123'))
r.set(p + 'courtlistener:task_start:${runId}:other_1', datetime.datetime(2024, 9, 17, 14, 35, 22, 456789).isoformat(), ex=90000)
print(json.dumps(at.isoformat()))`
  expect(await python(prefix, both)).toBe('2024-09-17T14:35:22.456000')
  expect(await timing.elapsedMs('other_1', new Date('2024-09-17T14:35:23.456Z'))).toBe(1000)
  expect(await timing.elapsedMs('unknown')).toBeUndefined()
  await expect(timing.start('a:b')).rejects.toMatchObject({ name: 'KeyError' })
  for (const [task, ms] of [
    ['process_docket_123', 10],
    ['process_docket_124', 30],
    ['process_docket_125', 20],
  ] as const) {
    await timing.start(task, new Date(0))
    expect(await timing.end(task, new Date(ms))).toBe(ms)
  }
  expect(await timing.report()).toEqual([
    { task: 'process_docket', count: 3, minMs: 10, medianMs: 20, p95Ms: 30 },
  ])
})

test('failures of Python, bare or JSON, are read newest first; ours are what the document shows', async () => {
  const { keys, prefix } = await opened()
  const failures = failuresIn(keys, () => new Date('2024-09-17T14:59:00Z'))
  await failures.record(hour, '12345', 'it timed out')
  await failures.record(hour, '12345', 'it timed out again')
  const key = `${prefix}courtlistener:failed:2024-09-17_14`
  expect(await redis.command('TYPE', key)).toBe('list')
  expect(await ttlOf(key)).toBeGreaterThan(7190)
  const both = `
before = r.lrange(p + 'courtlistener:failed:2024-09-17_14', 0, -1)
r.lpush(p + 'courtlistener:failed:2024-09-17_14', '12346')
r.lpush(p + 'courtlistener:failed:2024-09-17_14', json.dumps({'docket_id': '12347', 'error': 'HTTP 500', 'timestamp': '2024-09-17T14:30:00'}))
print(json.dumps(before))`
  expect(await python(prefix, both)).toEqual(['12345'])
  expect(await failures.list(hour)).toMatchObject([
    { docketId: '12347', error: 'HTTP 500', timestamp: '2024-09-17T14:30:00' },
    { docketId: '12346' },
    { docketId: '12345', error: 'it timed out again', timestamp: '2024-09-17T14:59:00.000Z' },
  ])
  expect(await failures.resolve(hour, ['12347', '12345'])).toBe(2)
  expect(await redis.command('LRANGE', key, 0, -1)).toEqual(['12346'])
})

test('a failure is tried once in a pass by any number of workers, and stays on the list until it succeeds', async () => {
  const { keys, prefix } = await opened()
  const others = await Promise.all(
    [1, 2, 3].map(async () => {
      const other = openCourtlistener({ url: redis.url, prefix })
      onTestFinished(() => other.close())
      await other.ready()
      return failuresIn(other.keys)
    }),
  )
  const failures = failuresIn(keys)
  const ids = Array.from({ length: 30 }, (_, id) => String(id + 1))
  for (const id of ids) await failures.record(hour, id, 'first')
  const tried: string[] = []
  const attempt = async (id: string) => {
    tried.push(id)
    await new Promise((resolve) => setImmediate(resolve))
    if (Number(id) % 3 === 0) throw new Error('again')
  }
  const results = await Promise.all(others.map((each) => each.retry(hour, 'run 1', attempt)))
  expect(tried.toSorted()).toEqual(ids.toSorted())
  expect(results.flatMap(({ recovered }) => recovered)).toHaveLength(20)
  expect(results.flatMap(({ failedAgain }) => failedAgain)).toHaveLength(10)
  expect((await failures.list(hour)).map(({ docketId, error }) => [Number(docketId) % 3, error])).toEqual(
    Array.from({ length: 10 }, () => [0, 'again']),
  )
  expect(await others[0]!.retry(hour, 'run 1', attempt)).toEqual({ recovered: [], failedAgain: [] })
  const second = await others[0]!.retry(hour, 'run 2', async () => {})
  expect(second.recovered).toHaveLength(10)
  expect(await redis.command('EXISTS', `${prefix}courtlistener:failed:2024-09-17_14`)).toBe(0)
})

test('a status follows only the one before it, and of many processes one moves it', async () => {
  const { keys, prefix } = await opened()
  const state = runState(keys, runId)
  expect(await state.move('running')).toEqual({ moved: false, from: undefined })
  await state.initialise()
  expect(await state.move('completed')).toEqual({ moved: false, from: 'initialized' })
  expect(await state.move('running')).toMatchObject({
    moved: true,
    state: { status: 'running', dag_run_id: runId },
  })
  const moves = await Promise.all(Array.from({ length: 10 }, () => runState(keys, runId).move('processing')))
  expect(moves.filter(({ moved }) => moved)).toHaveLength(1)
  expect(moves.find(({ moved }) => !moved)).toEqual({ moved: false, from: 'processing' })
  // To go on with a run changes nothing of it.
  expect(await state.initialise()).toMatchObject({ status: 'processing' })
  await Promise.all(Array.from({ length: 50 }, (_, id) => state.finish(String(id))))
  expect(await state.move('completed')).toMatchObject({ moved: true })
  const written = (await redis.command(
    'HGET',
    `${prefix}courtlistener:pipeline:${runId}`,
    'dockets_processed',
  )) as string
  expect(JSON.parse(written)).toHaveLength(50)
  expect(await state.move('failed')).toEqual({ moved: false, from: 'completed' })
  expect(await unfinishedRun(keys)).toBeUndefined()
})

test('no update is lost where many processes write different fields, and each answers the whole state', async () => {
  const { keys } = await opened()
  const state = runState(keys, runId)
  await state.initialise()
  const [calls, current] = await Promise.all([
    state.update({ api_calls_this_hour: 7 }),
    state.update({ current_hour: '2024-09-17_15' }),
  ])
  expect(Object.keys(calls)).toHaveLength(8)
  expect(current).toMatchObject({ current_hour: '2024-09-17_15', dag_run_id: runId })
  expect(await state.get()).toMatchObject({ api_calls_this_hour: 7, current_hour: '2024-09-17_15' })
})

test('a run whose status nobody here knows, or that is no hash, is told and left, and another is gone on with', async () => {
  const { keys, prefix } = await opened()
  const name = (id: string) => `${prefix}courtlistener:pipeline:${id}`
  await redis.command('HSET', name('odd'), 'status', 'paused', 'start_time', '2030-01-01T00:00:00')
  await redis.command('SET', name('none'), 'x')
  const said: string[] = []
  expect(await unfinishedRun(keys, (line) => said.push(line))).toBeUndefined()
  expect(said.toSorted()).toEqual(
    ['none', 'odd'].map((id) => `${name(id)} is left as it is: its status is none that this program knows`),
  )
  // A start that cannot be read does not hide the run.
  await redis.command('HSET', name(runId), 'status', 'running', 'start_time', 'yesterday')
  expect(await unfinishedRun(keys)).toBe(runId)
  expect(await redis.command('HGET', name('odd'), 'status')).toBe('paused')
})

test('a list that cannot be read does not keep a run from its end', async () => {
  const { keys, prefix } = await opened()
  const state = runState(keys, runId)
  await state.initialise()
  await state.move('running')
  await redis.command('HSET', `${prefix}courtlistener:pipeline:${runId}`, 'dockets_processed', '<none>')
  await state.finish('12345')
  expect(await state.move('failed')).toMatchObject({ moved: true, state: { dockets_processed: ['12345'] } })
})

test('the growing list is written only when it has doubled', async () => {
  const { keys } = await opened()
  const state = runState(keys, runId)
  await state.initialise()
  let written = 0
  for (let id = 0; id < 300; id += 1) {
    await state.finish(String(id))
    if (await state.publish())
      written += (await keys.run({ dagRunId: runId }).getField('dockets_processed'))!.length
  }
  expect(written).toBe(16 + 32 + 64 + 128 + 256)
  expect(await state.processed()).toHaveLength(300)
})

test('a cleanup tells each key’s age, and deletes only what is past its policy, if told to', async () => {
  const { keys, prefix } = await opened()
  const now = new Date('2024-09-17T18:30:00Z')
  await redis.command('SET', `${prefix}courtlistener:rate_limit:2024-09-17_14`, 5)
  await redis.command('SET', `${prefix}courtlistener:counter:2024-09-17_16`, 5)
  await redis.command('LPUSH', `${prefix}courtlistener:failed:2024-09-17_01`, '1')
  await redis.command('SET', `${prefix}courtlistener:task_start:${runId}:a`, '2024-09-16T14:35:22.456789')
  await redis.command(
    'HSET',
    `${prefix}courtlistener:pipeline:${runId}`,
    'last_updated',
    '2024-09-17T18:00:00',
  )
  await redis.command('HSET', `${prefix}courtlistener:pipeline:odd`, 'last_updated', 'yesterday')
  await redis.command('SET', `${prefix}other`, '1')
  // Of the wrong type, and with one field that cannot be read.
  await redis.command('SET', `${prefix}courtlistener:pipeline:wrong`, '1')
  await redis.command(
    'HSET',
    `${prefix}courtlistener:pipeline:half`,
    'last_updated',
    'yesterday',
    'start_time',
    '1726596000',
  )
  const judge = async (dryRun: boolean | undefined) => {
    const found = []
    for await (const each of cleanup(keys, { now, ...(dryRun === undefined ? {} : { dryRun }) }))
      found.push(each)
    return found
  }
  const first = await judge(undefined)
  expect(first).toHaveLength(8)
  expect(first.filter(({ isDeleted }) => isDeleted)).toEqual([])
  const past = first.filter(({ isPastPolicy }) => isPastPolicy).map(({ key }) => key.slice(prefix.length))
  expect(past.toSorted()).toEqual([
    'courtlistener:failed:2024-09-17_01',
    'courtlistener:rate_limit:2024-09-17_14',
    `courtlistener:task_start:${runId}:a`,
  ])
  expect(first.find(({ key }) => key.endsWith('odd'))).toMatchObject({
    ageMs: undefined,
    isPastPolicy: false,
  })
  expect(first.find(({ key }) => key.endsWith(runId))).toMatchObject({ ageMs: 1_800_000, ttlMs: 'forever' })
  expect(first.find(({ key }) => key.endsWith('half'))).toMatchObject({ ageMs: 1_800_000 })
  expect((await judge(false)).filter(({ isDeleted }) => isDeleted)).toHaveLength(3)
  expect(await judge(false)).toHaveLength(5)
  expect(await redis.command('EXISTS', `${prefix}other`)).toBe(1)
})

test('the health of the connection has the document’s names', async () => {
  const { keys, isConnectionHealthy, connectionMetrics } = await opened()
  await keys.calls().take()
  expect(isConnectionHealthy()).toBe(true)
  expect(await connectionMetrics()).toMatchObject({
    connection_attempts: 1,
    connection_failures: 0,
    success_rate: 1,
    consecutive_failures: 0,
    operation_failures: 0,
    peak_hour_operations: expect.any(Number),
    used_memory: expect.any(Number),
  })
})

test('a Redis that is not there makes the connection unhealthy, and its share of the quota is all that is admitted', async () => {
  const all = openCourtlistener({
    url: 'unix:///tmp/there-is-no-redis.sock',
    settings: { ...defaults, callLimitPerHour: 36, safetyBuffer: 6, workers: 3 },
  })
  onTestFinished(() => all.close())
  const taken = []
  for (let call = 0; call < 12; call += 1) taken.push(await all.keys.calls().take())
  expect(taken.filter(({ allowed }) => allowed)).toHaveLength(10)
  expect(taken.every(({ from }) => from === 'unreachable')).toBe(true)
  expect(all.isConnectionHealthy()).toBe(false)
  expect(await all.connectionMetrics()).toMatchObject({ success_rate: 0, used_memory: undefined })
})

// The document's ATOMIC_INCREMENT_SCRIPT, in its own words: what a Python program runs.
const documentScript = `
local key = KEYS[1]
local increment = tonumber(ARGV[1])
local limit = tonumber(ARGV[2])
local ttl = tonumber(ARGV[3])
local current = redis.call('GET', key) or 0
current = tonumber(current)
if current + increment <= limit then
    local new_count = redis.call('INCRBY', key, increment)
    redis.call('EXPIRE', key, ttl)
    return {new_count, 1}
else
    return {current, 0}
end`

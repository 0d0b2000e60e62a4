import { digits, integerReply, script, textArgument, textReply, tupleReply } from 'keyspec/extend'
import type { Opened } from '../keyspace.ts'

// Programs of the originals keep a job in progress as its URL alone, from which nothing could be put back into the queue:
// each becomes the job that it stands for, as it would wait. The first of them never took a job away that was done.
const adoption = script('mirrulations/adopt', {
  keys: ['inProgress', 'holders', 'done'],
  args: { cursor: textArgument, size: digits },
  lua: `
local page = redis.call('HSCAN', inProgress, cursor, 'COUNT', size)
local adopted = 0
for i = 1, #page[2], 2 do
  local id, text = page[2][i], page[2][i + 1]
  if string.sub(text, 1, 1) == '{' then -- ours
  elseif redis.call('HEXISTS', done, id) == 1 then
    redis.call('HDEL', inProgress, id)
    redis.call('HDEL', holders, id)
  else
    local named = string.match(id, '^[1-9]%d*$') and #id < 16 and id or cjson.encode(id)
    redis.call('HSET', inProgress, id, '{"job_id":' .. named .. ',"url":' .. cjson.encode(text) .. '}')
    adopted = adopted + 1
  end
end
return {page[1], adopted}`,
  commands: ['HDEL', 'HEXISTS', 'HSCAN', 'HSET'],
  types: { holders: 'hash' },
  reply: tupleReply(textReply, integerReply),
})

/** Makes jobs of what programs of the originals have in progress, and gives each a lease; answers how many it found. */
export async function adoptJobs({ keys, connection }: Pick<Opened, 'keys' | 'connection'>): Promise<number> {
  const jobs = keys.jobs()
  const { inProgress, holders, done } = jobs.names
  let adopted = 0
  let cursor = '0'
  do {
    const [next, found] = await adoption.run(
      connection,
      { inProgress, holders, done },
      { cursor, size: 1_000 },
    )
    cursor = next
    adopted += found
  } while (cursor !== '0')
  // Those that were adopted before a work server died have no lease either.
  if (adopted > 0 || (await jobs.stats()).orphans > 0) await jobs.repair()
  return adopted
}

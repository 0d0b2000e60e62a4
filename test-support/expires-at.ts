import type { TemporaryRedis } from '../packages/keyspec/src/testing/redis.ts'

/**
 * When a key expires, in ms since the epoch; -1 for never, -2 where there is no key. Redis 7 says it (PEXPIRETIME); before, it is
 * reckoned from what is left, in a millisecond that begins and ends as the same one.
 */
export async function expiresAt(
  redis: Pick<TemporaryRedis, 'command'>,
  key: string | Buffer,
): Promise<number> {
  return Number(await redis.command('EVAL', EXPIRES_AT, '1', key))
}

const EXPIRES_AT = `
local exact = redis.pcall('PEXPIRETIME', KEYS[1])
if type(exact) == 'number' then return tostring(exact) end
local function now()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end
while true do
  local before, left = now(), redis.call('PTTL', KEYS[1])
  if left < 0 then return tostring(left) end
  if now() == before then return string.format('%.0f', before + left) end
end`

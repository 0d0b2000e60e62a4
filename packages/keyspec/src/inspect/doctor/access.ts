import { type Connection, NO_KEY } from '../../connection/connection.ts'
import { ServerError } from '../../connection/server-error.ts'
import type { RedisType } from '../../kind/kind.ts'
import { owned, type Schema } from '../../schema.ts'
import { exampleKey } from '../manifest/example-key.ts'
import { configured, type Diagnosis } from './diagnosis.ts'
import type { NodeFacts } from './node-facts.ts'

/** Who may come in, and whether we may do what must be done. */
export function* access({ config, user, userFlags, mayEval }: NodeFacts): Generator<Diagnosis> {
  const listens = config.get('port') !== '0' || (config.get('tls-port') ?? '0') !== '0'
  const isOpen = config.get('protected-mode') === 'no' && listens && !isLocal(config.get('bind'))
  if (user === 'default' && userFlags?.includes('nopass') === true && isOpen) {
    const message =
      'anybody who reaches the server may do anything: it listens everywhere, without protected-mode and password'
    yield configured({ code: 'open-to-all', severity: 'warning', message }, [['protected-mode', 'yes']])
  }
  if (!mayEval) {
    const message = `the user ${user ?? 'of this connection'} may not run scripts, and every atomic verb is one`
    yield { code: 'permission', severity: 'error', message, ...allowed(user, '+eval +evalsha') }
  }
}

/** What each type is read and written with. */
const USED: Readonly<Record<RedisType, readonly (readonly [command: string, ...rest: string[]])[]>> = {
  string: [['GET'], ['SET', 'v']],
  hash: [['HGETALL'], ['HSET', 'f', 'v']],
  list: [
    ['LRANGE', '0', '1'],
    ['RPUSH', 'v'],
  ],
  set: [['SMEMBERS'], ['SADD', 'm']],
  zset: [
    ['ZRANGE', '0', '1'],
    ['ZADD', '1', 'm'],
  ],
  stream: [
    ['XRANGE', '-', '+'],
    ['XADD', '*', 'f', 'v'],
  ],
}
const ALWAYS = [['PTTL'], ['PEXPIRE', '1000'], ['UNLINK']] as const

/**
 * What the user may not do with the keys of each entry, as ACL DRYRUN (Redis 7) foretells; nothing is run. `unseen` where
 * the server has no such command or the user may not ask.
 */
export async function* permissions(
  schema: Schema,
  prefix: string,
  node: Connection,
  user: string,
): AsyncGenerator<Diagnosis> {
  const refused = new Map<string, string[]>()
  for (const { entry, spec, pattern, legacy } of owned(schema, prefix)) {
    if (legacy || spec.foreign !== undefined || spec.type === 'various') continue
    const key = exampleKey(pattern, spec.params)
    for (const [command, ...rest] of [...USED[spec.type], ...ALWAYS]) {
      let answer
      try {
        answer = await node.send(['ACL', 'DRYRUN', user, command, key, ...rest], NO_KEY)
      } catch (error) {
        if (!(error instanceof ServerError)) throw error
        const message = `whether ${user} may use the keys could not be foretold: ${error.reply}`
        yield { code: 'unseen', severity: 'info', message }
        return
      }
      if (answer === 'OK') continue
      const isKey = /access the .* key/i.test(String(answer))
      const missing = isKey ? `~${prefix === '' ? key : `${prefix}*`}` : `+${command.toLowerCase()}`
      const entries = refused.get(missing) ?? []
      if (!entries.includes(entry)) entries.push(entry)
      refused.set(missing, entries)
    }
  }
  for (const [missing, entries] of refused) {
    const what = missing.startsWith('~')
      ? `touch keys ${missing.slice(1)}`
      : `run ${missing.slice(1).toUpperCase()}`
    const message = `the user ${user} may not ${what}, as ${entries.join(', ')} must`
    yield { code: 'permission', severity: 'error', message, entries, ...allowed(user, missing) }
  }
}

function allowed(user: string | undefined, rules: string): Pick<Diagnosis, 'commands' | 'conf'> {
  const name = user ?? '<user>'
  return { commands: [`redis-cli ACL SETUSER ${name} ${rules}`], conf: [`user ${name} … ${rules}`] }
}

function isLocal(bind: string | undefined): boolean {
  if (bind === undefined || bind.trim() === '') return false
  return bind
    .trim()
    .split(/\s+/)
    .every((address) => /^-?(127\.|::1$|localhost$)/.test(address))
}

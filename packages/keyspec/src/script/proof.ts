/** The type of a key, as `TYPE` says it. */
export type RedisType = 'string' | 'hash' | 'list' | 'set' | 'zset' | 'stream'

/**
 * Commands that scripts run through `pcall` and work without: PUBLISH wakes those who wait and would ask again anyway,
 * and PEXPIRETIME is of Redis 7 only. No proof asks for them.
 */
export const SPARABLE: ReadonlySet<string> = new Set(['PEXPIRETIME', 'PUBLISH'])

/**
 * A Lua statement, on one line, that returns a NOPERM error that names the first command which the user may not run. It
 * changes nothing.
 *
 * Redis 7 and Valkey answer `redis.acl_check_cmd`. Redis 6.2 has no such function: each command is run in a form that it
 * refuses, or that finds nothing. Commands without such a form (`isProvenEverywhere`) cannot be proven there;
 * docs/design/scripts.md lists them.
 */
export function permissionProof(commands: readonly string[]): string {
  const forms = commands.filter((command) => !SPARABLE.has(command)).map(formOf)
  if (forms.length === 0) return ''
  return (
    `${BEGIN}, redis.acl_check_cmd if key then ` +
    `for _, form in ipairs({${forms.join(', ')}}) do local ok = true ` +
    'if may then ok = may(unpack(form)) elseif form.try then local said = redis.pcall(unpack(form)) ' +
    "ok = not (type(said) == 'table' and said.err and string.find(said.err, 'executing the script', 1, true)) end " +
    "if not ok then return redis.error_reply('NOPERM this user has no permissions to run the \\'' .. form.name .. '\\' command') " +
    END
  )
}

const BEGIN = 'do local key, may = KEYS[1]'
const END = 'end end end end'

/** The proof that a script's text begins with, empty if it has none. */
export function proofIn(text: string): string {
  return text.startsWith(BEGIN) ? text.slice(0, text.indexOf(END) + END.length) : ''
}

/** The key once more, in place of a word: a check asks of every key whether the user may touch it. */
const KEY = Symbol('key')

/** What stands behind the key where a command is to be refused for its arguments, or to find nothing. */
const HARMLESS: { readonly [command: string]: readonly (string | typeof KEY)[] } = {
  DECRBY: ['x'],
  DUMP: [],
  EXISTS: [],
  GET: [],
  GETRANGE: ['0', '0'],
  HDEL: ['\\0keyspec'],
  HEXISTS: [''],
  HGET: [''],
  HGETALL: [],
  HINCRBY: ['', 'x'],
  HLEN: [],
  HMGET: [''],
  HRANDFIELD: [],
  HSCAN: ['0'],
  HSET: ['', '', ''],
  INCRBY: ['x'],
  LLEN: [],
  LMOVE: [KEY, 'x', 'x'],
  LRANGE: ['0', '0'],
  LTRIM: ['x', 'x'],
  'MEMORY USAGE': [],
  'OBJECT ENCODING': [],
  'OBJECT IDLETIME': [],
  PEXPIRE: ['x'],
  PTTL: [],
  RENAME: [KEY],
  RESTORE: ['-1', ''],
  SCARD: [],
  SCAN: ['0'],
  SET: ['', 'x'],
  SSCAN: ['0'],
  STRLEN: [],
  TIME: [],
  TYPE: [],
  XRANGE: ['-', '-'],
  'XGROUP CREATE': ['', 'x'],
  ZADD: ['x', ''],
  ZCARD: [],
  ZCOUNT: ['0', '0'],
  ZPOPMIN: ['x'],
  ZRANGE: ['0', '0'],
  ZRANGEBYSCORE: ['0', '0'],
  ZREM: ['\\0keyspec'],
  ZREMRANGEBYRANK: ['x', 'x'],
  ZREMRANGEBYSCORE: ['x', 'x'],
  ZSCORE: [''],
}

/** Whether Redis 6.2, too, can prove that a user may run it. */
export function isProvenEverywhere(command: string): boolean {
  return command in HARMLESS || SPARABLE.has(command)
}

function formOf(command: string): string {
  const words = command.split(' ').map((word) => `'${word}'`)
  const rest = (HARMLESS[command] ?? []).map((word) => (word === KEY ? 'key' : `'${word}'`))
  const isHarmless = command in HARMLESS
  const keys = command === 'SCAN' || command === 'TIME' ? [] : ['key']
  return `{name = '${command.toLowerCase().replace(' ', '|')}', ${isHarmless ? 'try = true, ' : ''}${[...words, ...keys, ...rest].join(', ')}}`
}

/** Lua statements, on one line, that return a WRONGTYPE error naming a key that is neither of its type nor absent. */
export function typeProof(
  names: readonly string[],
  types: { readonly [name: string]: RedisType | undefined },
): string {
  return names
    .filter((name) => types[bare(name)] !== undefined)
    .map((name) => {
      const type = types[bare(name)]!
      const judge = (key: string) =>
        `local kind = redis.call('TYPE', ${key}).ok if kind ~= '${type}' and kind ~= 'none' then ` +
        `return redis.error_reply('WRONGTYPE ' .. ${key} .. ' holds a ' .. kind .. ', not a ${type}') end`
      return name.endsWith('*')
        ? `for _, each in ipairs(${bare(name)}) do ${judge('each')} end`
        : `do ${judge(name)} end`
    })
    .join(' ')
}

/** The name of a key without the `*` of one that stands for several. */
export function bare(name: string): string {
  return name.endsWith('*') ? name.slice(0, -1) : name
}

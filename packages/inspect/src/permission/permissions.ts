import { type Connection, type Schema, ServerError } from 'keyspec'
import {
  ANNOUNCING,
  ANY_KEY,
  ASIDE,
  CROSSING,
  globOf,
  integerReply,
  listReply,
  MARKER,
  NO_KEY,
  optionalReply,
  patternsOf,
  REGISTER,
  RENAMING,
  rest,
  script,
  SPARABLE,
  verbsOf,
} from 'keyspec/extend'
import { type Permission, mayByRules, userRules } from './acl-rules.ts'
import * as lua from './lua.gen.ts'
import { exampleKey } from '../manifest/example-key.ts'

/** What a user lacks, and what could not be seen. */
export interface Permissions {
  readonly user: string | undefined
  readonly missing: readonly Permission[]
  /** Permissions that the server does not tell about. */
  readonly unknown: readonly Permission[]
}

/**
 * Every permission that the verbs of a schema need: their commands, scripts included, the patterns of its keys, and the
 * channels that recipes wake each other on. Keys of other programs are left out, since no verb touches them.
 *
 * @param options `cluster`: the schema is used on a cluster, where some keys have other names, and the two names of a key may be in
 * different slots.
 */
export function permissionsOf(
  schema: Schema,
  prefix = '',
  { cluster = false }: { readonly cluster?: boolean } = {},
): readonly Permission[] {
  const found = new Map<string, { entries: Set<string>; isOptional: boolean; example: string }>()
  const need = (rule: string, entry: string, isOptional: boolean, example: string) => {
    const permission = found.get(rule)
    if (permission === undefined) found.set(rule, { entries: new Set([entry]), isOptional, example })
    else {
      permission.entries.add(entry)
      permission.isOptional &&= isOptional
    }
  }
  for (const { entry, kind, spec, pattern, legacy, before } of patternsOf(schema, prefix, { cluster })) {
    if (spec.external !== undefined || spec.type === 'various') continue
    const key = exampleKey(pattern, spec.params)
    // A script reads and writes its keys, so a pattern to read or to write only is not enough.
    need(`~${globOf(pattern)}`, entry, false, key)
    for (const command of [...ANY_KEY, ...(kind.commands ?? verbsOf(spec.type)), ...(legacy ? RENAMING : [])])
      need(ruleOf(command), entry, SPARABLE.has(command), command)
    if (legacy) {
      need(`~${literal(before + REGISTER)}`, entry, false, before + REGISTER)
      for (const command of ANNOUNCING) need(ruleOf(command), entry, false, command)
    }
    if (legacy && cluster && spec.phase !== 3) {
      for (const name of [ASIDE, MARKER])
        need(`~${literal(before + name)}*`, entry, false, `${before}${name}{${key}}`)
      for (const command of CROSSING) need(ruleOf(command), entry, false, command)
    }
    // Until phase 3 a program may announce and hear of a key under its old name.
    if ((!legacy || spec.phase !== 3) && kind.channels?.includes(spec) === true) {
      need(`&${globOf(pattern)}`, entry, true, key)
      need('+subscribe', entry, true, 'SUBSCRIBE')
      need('+unsubscribe', entry, true, 'UNSUBSCRIBE')
    }
  }
  return Array.from(found, ([rule, { entries, isOptional, example }]) => ({
    rule,
    entries: [...entries],
    isOptional,
    example,
  }))
}

/**
 * Every permission that tools need over a whole keyspace: the commands that each sends, by its name, and all keys under the
 * prefix. The names of the tools stand in `entries`.
 */
export function permissionsOfTools(
  tools: { readonly [tool: string]: readonly string[] },
  prefix = '',
): readonly Permission[] {
  const byRule = new Map<string, { readonly entries: string[]; readonly example: string }>()
  const need = (rule: string, tool: string, example: string) => {
    const permission = byRule.get(rule)
    if (permission === undefined) byRule.set(rule, { entries: [tool], example })
    else if (!permission.entries.includes(tool)) permission.entries.push(tool)
  }
  for (const [tool, commands] of Object.entries(tools)) {
    need(`~${literal(prefix)}*`, tool, `${prefix}any key`)
    for (const command of commands) if (!SPARABLE.has(command)) need(ruleOf(command), tool, command)
  }
  return Array.from(byRule, ([rule, { entries, example }]) => ({ rule, entries, isOptional: false, example }))
}

/**
 * Which of these permissions the user of a connection lacks. Nothing is run and nothing changes. Redis 7 and Valkey answer
 * for the user itself, in one script; before, and where the user may run no script, the rules of the user are read (ACL
 * WHOAMI, ACL GETUSER, ACL CAT), if the user may read them. What neither tells is `unknown`.
 */
export async function probePermissions(
  needs: readonly Permission[],
  connection: Connection,
): Promise<Permissions> {
  const [node = connection] = await connection.masters()
  const user = await granted(node.send(['ACL', 'WHOAMI'], NO_KEY))
  const name = user === undefined ? undefined : String(user)
  const told = await answersOf(needs, node)
  const unsure = needs.filter((need) => told.get(need) === undefined)
  const rules = unsure.length === 0 || name === undefined ? undefined : await userRules(node, name)
  const lacks = (need: Permission) =>
    told.get(need) === false || (unsure.includes(need) && rules !== undefined && !mayByRules(rules, need))
  return { user: name, missing: needs.filter(lacks), unknown: rules === undefined ? unsure : [] }
}

/** The line that gives a user these permissions. */
export function aclLine(user: string | undefined, permissions: readonly Permission[]): string {
  const rules = permissions.map(({ rule }) => rule).join(' ')
  return `ACL SETUSER ${user ?? '<user>'} ${rules}`
}

/** What Redis 7 says of each permission; nothing of one that it refuses for what may be the lack of another. */
async function answersOf(
  needs: readonly Permission[],
  node: Connection,
): Promise<ReadonlyMap<Permission, boolean>> {
  const told = new Map<Permission, boolean>()
  const ask = async (asked: readonly Permission[], lineOf: (need: Permission) => readonly string[]) => {
    const lines = asked.map((need) => JSON.stringify(lineOf(need)))
    const answers = asked.length === 0 ? [] : await granted(prober.run(node, {}, { lines }))
    for (const [at, answer] of answers?.entries() ?? []) told.set(asked[at]!, answer !== 0)
  }
  const keys = needs.filter(({ rule }) => rule.startsWith('~'))
  await ask(keys, ({ example }) => ['EVAL', '', '1', example])

  // Each word is a key that the user may touch, so only the command can be refused, however it finds its keys.
  const key = keys.find((need) => told.get(need))?.example
  const commands = needs.filter(({ rule }) => rule.startsWith('+') && !ON_CHANNELS.has(rule))
  if (key !== undefined) await ask(commands, ({ example }) => [...example.split(' '), key, key, key, key])

  const channels = needs.filter(({ rule }) => rule.startsWith('&'))
  await ask(channels, ({ example }) => ['PUBLISH', example, ''])
  const channel = channels.find((need) => told.get(need))?.example
  // All are refused to a user that may not publish at all.
  if (channel === undefined) for (const each of channels) told.delete(each)
  else
    await ask(
      needs.filter(({ rule }) => ON_CHANNELS.has(rule)),
      ({ example }) => (example === 'PUBLISH' ? [example, channel, ''] : [example, channel]),
    )
  return told
}

const ON_CHANNELS: ReadonlySet<string> = new Set(['+publish', '+subscribe', '+unsubscribe'])

const prober = script('inspect/permissions-probe', {
  keys: [],
  args: { lines: rest },
  lua: lua.permissionsProbe,
  commands: [],
  reply: optionalReply(listReply(integerReply)),
})

function literal(text: string): string {
  return text.replace(/[\\*?[\]]/g, '\\$&')
}

function ruleOf(command: string): string {
  return `+${command.toLowerCase().replace(' ', '|')}`
}

/** What a server answers, `undefined` where it refuses. */
async function granted<T>(reply: Promise<T>): Promise<T | undefined> {
  try {
    return await reply
  } catch (error) {
    if (error instanceof ServerError) return undefined
    throw error
  }
}

import { type Connection, ServerError } from 'keyspec'
import { decodeReply, NO_KEY, optionalReply, type Reply } from 'keyspec/extend'
import { matchesGlob } from './glob.ts'
import { namedReply, textsReply } from '../scan/replies.ts'

/** One permission that a user needs, as an ACL rule that gives it and nothing else. */
export interface Permission {
  /** `+hset`, `~shop:profile:*`, `&shop:lock:*`. */
  readonly rule: string
  /** The entries that need it. */
  readonly entries: readonly string[]
  /** Whether its verbs work without it: publishing, since those who wait ask again anyway. */
  readonly isOptional: boolean
  /** The command, or a key or channel that the pattern matches. */
  readonly example: string
}

/** What ACL GETUSER says of a user. */
export interface UserRules {
  readonly commands: readonly string[]
  /** Patterns that the user may both read and write. */
  readonly keys: readonly string[]
  readonly channels: readonly string[]
  /** The commands of each category that the rules name. */
  readonly categories: ReadonlyMap<string, ReadonlySet<string>>
}

/** Reads the rules of a user; `undefined` where they may not be read, or selectors (Redis 7) say more than they do. */
export async function userRules(node: Connection, user: string): Promise<UserRules | undefined> {
  try {
    const fields = decodeReply(optionalReply(namedReply), await node.send(['ACL', 'GETUSER', user], NO_KEY))
    if (fields === undefined || words(fields.get('selectors')).length > 0) return undefined
    const commands = words(fields.get('commands'))
    const categories = new Map<string, ReadonlySet<string>>()
    for (const rule of commands) {
      const category = /^[+-]@(?!all$)(.+)$/.exec(rule)?.[1]
      if (category === undefined || categories.has(category)) continue
      const names = decodeReply(textsReply, await node.send(['ACL', 'CAT', category], NO_KEY))
      categories.set(category, new Set(names))
    }
    const keys = words(fields.get('keys')).flatMap((each) => {
      if (each.startsWith('%')) return /^%(RW|WR)~(.*)$/s.exec(each)?.[2] ?? []
      return each.replace(/^~/, '')
    })
    const channels = words(fields.get('channels')).map((each) => each.replace(/^&/, ''))
    const flags = words(fields.get('flags'))
    const isWhole = (name: string) => flags.includes(name)
    return {
      commands,
      keys: isWhole('allkeys') ? ['*'] : keys,
      channels: isWhole('allchannels') ? ['*'] : channels,
      categories,
    }
  } catch (error) {
    if (error instanceof ServerError) return undefined
    throw error
  }
}

/** Whether these rules give a permission. The last rule on a command counts, as the server reads them. */
export function mayByRules(
  { commands, keys, channels, categories }: UserRules,
  { rule, example }: Permission,
): boolean {
  if (rule.startsWith('~')) return keys.some((pattern) => matchesGlob(pattern, example))
  if (rule.startsWith('&')) return channels.some((pattern) => matchesGlob(pattern, example))
  const name = rule.slice(1)
  const [container] = name.split('|')
  let isAllowed = false
  for (const each of commands) {
    const [, sign, target = ''] = /^([+-])(.*)$/.exec(each) ?? []
    const category = target.startsWith('@') ? target.slice(1) : undefined
    const applies =
      category === undefined
        ? target === name || target === container
        : category === 'all' ||
          categories.get(category)?.has(name) === true ||
          categories.get(category)?.has(container!) === true
    if (applies) isAllowed = sign === '+'
  }
  return isAllowed
}

function words(value: Reply | undefined): string[] {
  if (Array.isArray(value)) return value.map(String)
  return typeof value === 'string' ? value.split(' ').filter((word) => word !== '') : []
}

import { type Connection, ServerError } from 'keyspec'
import { decodeReply, integerReply, NO_KEY, type Reply, type ReplyDecoder, textReply } from 'keyspec/extend'
import { namedReply, textsReply, timeReply } from '../scan/replies.ts'

/** What a server says of itself; what the user may not ask is missing, and stands in `unseen`. */
export interface NodeFacts {
  /** The fields of INFO. */
  readonly info: ReadonlyMap<string, string>
  /** The parameters that were asked for. */
  readonly config: ReadonlyMap<string, string>
  /** How far its clock is ahead of ours, in ms, and how long the answer took. */
  readonly clock: { readonly aheadMs: number; readonly roundTripMs: number } | undefined
  readonly user: string | undefined
  /** The flags of the user: `on`, `nopass`. */
  readonly userFlags: readonly string[] | undefined
  /** Whether a script may be run. */
  readonly mayEval: boolean
  readonly slowCalls: number | undefined
  /** The fields of CLUSTER INFO, where it is part of a cluster. */
  readonly cluster: ReadonlyMap<string, string> | undefined
  /** What could not be asked, as it was asked, and what the server answered. */
  readonly unseen: readonly { readonly command: string; readonly words: string }[]
}

const PARAMETERS = [
  'save',
  'appendonly',
  'bind',
  'port',
  'tls-port',
  'protected-mode',
  'maxclients',
  'notify-keyspace-events',
  'slowlog-max-len',
  'tcp-keepalive',
  'timeout',
] as const

/** Asks a server for all that a diagnosis looks at: reads only, each by itself, and a refusal ends none of the others. */
export async function nodeFacts(node: Connection): Promise<NodeFacts> {
  const unseen: { command: string; words: string }[] = []
  const ask = async <T>(
    decoder: ReplyDecoder<T>,
    ...command: readonly [string, ...string[]]
  ): Promise<T | undefined> => {
    try {
      return decodeReply(decoder, await node.send(command, NO_KEY))
    } catch (error) {
      if (!(error instanceof ServerError)) throw error
      unseen.push({ command: command.join(' '), words: error.reply })
      return undefined
    }
  }
  const info = fields(await ask(textReply, 'INFO'))
  const before = Date.now()
  const time = await ask(timeReply, 'TIME')
  const after = Date.now()
  const user = await ask(textReply, 'ACL', 'WHOAMI')
  const described = user === undefined ? undefined : await ask(namedReply, 'ACL', 'GETUSER', user)
  const config = new Map<string, string>()
  for (const parameter of PARAMETERS) {
    const pair = await ask(textsReply, 'CONFIG', 'GET', parameter)
    if (pair?.[1] !== undefined) config.set(parameter, pair[1])
    // Who may not ask for one may not ask for any.
    if (pair === undefined) break
  }
  const slow = await ask(integerReply, 'SLOWLOG', 'LEN')
  const mayEval = await mayRun(node)
  return {
    info,
    config,
    clock:
      time === undefined
        ? undefined
        : {
            aheadMs: time - (before + after) / 2,
            roundTripMs: after - before,
          },
    user,
    userFlags: flagsOf(described),
    mayEval,
    slowCalls: slow,
    cluster:
      info.get('cluster_enabled') === '1' ? fields(await ask(textReply, 'CLUSTER', 'INFO')) : undefined,
    unseen,
  }
}

/** Whether scripts are allowed: what fails for another reason, as while the server loads, is no refusal. */
async function mayRun(node: Connection): Promise<boolean> {
  try {
    await node.send(['EVAL', 'return 1', '0'], NO_KEY)
    return true
  } catch (error) {
    if (!(error instanceof ServerError)) throw error
    return !error.reply.startsWith('NOPERM')
  }
}

/** The lines `name:value` of INFO and its like. */
function fields(text = ''): Map<string, string> {
  const lines = text.split(/\r?\n/)
  return new Map(
    lines.flatMap((line): [string, string][] => {
      const at = line.indexOf(':')
      return at === -1 || line.startsWith('#') ? [] : [[line.slice(0, at), line.slice(at + 1)]]
    }),
  )
}

function flagsOf(described: ReadonlyMap<string, Reply> | undefined): readonly string[] | undefined {
  const flags = described?.get('flags')
  return Array.isArray(flags) ? flags.map(String) : undefined
}

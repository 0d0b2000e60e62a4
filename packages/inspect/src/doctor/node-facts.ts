import { type Connection, ServerError } from 'keyspec'
import { NO_KEY, type Reply } from 'keyspec/extend'

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
  const ask = async (...command: string[]): Promise<Reply | undefined> => {
    try {
      return await node.send(command, NO_KEY)
    } catch (error) {
      if (!(error instanceof ServerError)) throw error
      unseen.push({ command: command.join(' '), words: error.reply })
      return undefined
    }
  }
  const info = fields(await ask('INFO'))
  const before = Date.now()
  const time = (await ask('TIME')) as readonly string[] | undefined
  const after = Date.now()
  const user = (await ask('ACL', 'WHOAMI')) as string | undefined
  const described = user === undefined ? undefined : await ask('ACL', 'GETUSER', user)
  const config = new Map<string, string>()
  for (const parameter of PARAMETERS) {
    const pair = (await ask('CONFIG', 'GET', parameter)) as readonly string[] | undefined
    if (pair?.[1] !== undefined) config.set(parameter, pair[1])
    // Who may not ask for one may not ask for any.
    if (pair === undefined) break
  }
  const slow = await ask('SLOWLOG', 'LEN')
  const mayEval = await mayRun(node)
  return {
    info,
    config,
    clock:
      time === undefined
        ? undefined
        : {
            aheadMs: Number(time[0]) * 1000 + Number(time[1]) / 1000 - (before + after) / 2,
            roundTripMs: after - before,
          },
    user,
    userFlags: flagsOf(described),
    mayEval,
    slowCalls: typeof slow === 'number' ? slow : undefined,
    cluster: info.get('cluster_enabled') === '1' ? fields(await ask('CLUSTER', 'INFO')) : undefined,
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
function fields(reply: Reply | undefined): Map<string, string> {
  const lines = typeof reply === 'string' ? reply.split(/\r?\n/) : []
  return new Map(
    lines.flatMap((line): [string, string][] => {
      const at = line.indexOf(':')
      return at === -1 || line.startsWith('#') ? [] : [[line.slice(0, at), line.slice(at + 1)]]
    }),
  )
}

function flagsOf(described: Reply | undefined): readonly string[] | undefined {
  if (!Array.isArray(described)) return undefined
  const flags: unknown = described[described.indexOf('flags') + 1]
  return Array.isArray(flags) ? flags.map(String) : undefined
}

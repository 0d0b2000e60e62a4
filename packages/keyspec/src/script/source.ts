import { nodeCrypto } from '../builtin.ts'
import type { Command, Connection, Reply, Shape } from '../connection/connection.ts'
import { ServerError } from '../connection/server-error.ts'
import { slotOf } from '../connection/slot.ts'
import type { Arguments } from './argument.ts'

/** A script's text, and the connections that were sent it. */
export interface Source {
  readonly text: string
  readonly sha: string
  /** By slot (0 where there are none) the connections that were sent the whole text: from then on its SHA-1 does. */
  readonly known: Map<number, WeakSet<Connection>>
  /** The same text behind a proof of permissions, which runs until that proof has passed. */
  readonly proven?: { readonly proof: Proof; readonly source: Source }
}

/** The proof that a user may run all commands of a script, and the connections over which it has passed. */
export interface Proof {
  /** A Lua statement that returns an error if the user may not. */
  readonly lua: string
  passed: WeakSet<Connection>
}

/** A text that no server has been sent yet, written when it is first needed: most scripts of a program never are. */
export function sourceOf(write: () => string, proof?: Proof): Source {
  let text: string | undefined
  let sha: string | undefined
  return {
    get text() {
      return (text ??= write())
    },
    get sha() {
      return (sha ??= nodeCrypto().createHash('sha1').update(this.text).digest('hex'))
    },
    known: new Map(),
    ...(proof === undefined || proof.lua === ''
      ? {}
      : { proven: { proof, source: sourceOf(() => `${proof.lua} ${write()}`) } }),
  }
}

/** Lua statements, on one line, that bind the names of keys and arguments. */
export function prelude(keys: readonly string[], args: Arguments): string {
  const statements = keys.map((name, index) =>
    name.endsWith('*')
      ? `local ${name.slice(0, -1)} = {} for i = ${index + 1}, #KEYS do ${name.slice(0, -1)}[i - ${index}] = KEYS[i] end`
      : `local ${name} = KEYS[${index + 1}]`,
  )
  for (const [index, [name, how]] of Object.entries(args).entries()) {
    statements.push(
      'rest' in how
        ? `local ${name} = {} for i = ${index + 1}, #ARGV do ${name}[i - ${index}] = ARGV[i] end`
        : how.local(name, `ARGV[${index + 1}]`),
    )
  }
  return statements.join(' ')
}

/**
 * EVALSHA of this source, or EVAL where this connection has not sent the text yet (on a cluster: not for this slot). Until
 * the proof of permissions has passed, the text with the proof in front runs instead: one step, so a user who may not run
 * all commands changes nothing. It takes no round trip of its own, and later calls do not pay for it.
 */
export function sendKnown(
  connection: Connection,
  source: Source,
  command: Command, // EVALSHA of this source
  shape: Shape,
): Promise<Reply> {
  if (source.proven?.proof.passed.has(connection) === false) {
    const { proof, source: proving } = source.proven
    return passing(proof, connection, sendKnown(connection, proving, withSha(command, proving.sha), shape))
  }
  const isKnown = source.known.get(slotFor(connection, command))?.has(connection) === true
  if (!isKnown) return sendText(connection, source, command, shape)
  return connection.send(command, shape)
}

async function passing(proof: Proof, connection: Connection, sent: Promise<Reply>): Promise<Reply> {
  const { passed } = proof
  const reply = await sent
  passed.add(connection)
  return reply
}

function withSha(command: Command, sha: string): Command {
  const copy = command.slice()
  copy[1] = sha
  return copy
}

/**
 * EVAL after NOSCRIPT: the server lost the text (SCRIPT FLUSH, a failover, a slot that moved), and the caller never notices.
 * It may be another server, with other users, so the permissions are proven again. Throws any other error as it is.
 *
 * The repeat is overtaken by what was asked on the same key in the meantime, since those commands are on their way before
 * the server's NOSCRIPT arrives. A caller that needs an order even then awaits the one before the other.
 */
export function resendLost(
  error: unknown,
  connection: Connection,
  source: Source,
  command: Command,
  shape: Shape,
): Promise<Reply> {
  if (!(error instanceof ServerError) || error.code !== 'E_NO_SCRIPT') throw error
  // Of every connection: a merge sends over another one than the caller, to the same server.
  source.known.delete(slotFor(connection, command))
  if (source.proven === undefined) return sendText(connection, source, command, shape)
  const { proof, source: proving } = source.proven
  proof.passed = new WeakSet()
  return passing(proof, connection, sendText(connection, proving, command, shape))
}

/** EVAL, which teaches the server the text. */
function sendText(connection: Connection, source: Source, command: Command, shape: Shape): Promise<Reply> {
  const slot = slotFor(connection, command)
  let connections = source.known.get(slot)
  if (connections === undefined) source.known.set(slot, (connections = new WeakSet()))
  connections.add(connection)
  return connection.send(['EVAL', source.text, ...command.slice(2)], shape)
}

function slotFor(connection: Connection, command: Command): number {
  return connection.cluster && command.length > 3 ? slotOf(String(command[3])) : 0
}

/** Sends it, and again with the text if the server has lost it: for what several callers share. */
export async function evaluate(
  connection: Connection,
  source: Source,
  command: Command,
  shape: Shape,
): Promise<Reply> {
  try {
    return await sendKnown(connection, source, command, shape)
  } catch (error) {
    return resendLost(error, connection, source, command, shape)
  }
}

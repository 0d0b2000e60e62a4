import { nodeCrypto } from '../builtin.ts'
import type { Command, Connection, Reply, Shape } from '../connection/connection.ts'
import { ServerError } from '../connection/server-error.ts'
import { slotOf } from '../connection/slot.ts'
import type { Arguments } from './argument.ts'

/** A script's text, and who knows it. */
export interface Source {
  readonly text: string
  readonly sha: string
  /** The connections that were sent the whole text, and on a cluster for which slots: from then on its SHA-1 does. */
  readonly known: WeakMap<Connection, Set<number>>
}

/** A text that no server has been sent yet, written when it is first needed: most scripts of a program never are. */
export function sourceOf(write: () => string): Source {
  let text: string | undefined
  let sha: string | undefined
  return {
    get text() {
      return (text ??= write())
    },
    get sha() {
      return (sha ??= nodeCrypto().createHash('sha1').update(this.text).digest('hex'))
    },
    known: new WeakMap(),
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

/** EVALSHA of this source, or EVAL where this connection has not sent the text yet (on a cluster: not for this slot). */
export function sendKnown(
  connection: Connection,
  source: Source,
  command: Command, // EVALSHA of this source
  shape: Shape,
): Promise<Reply> {
  const slots = source.known.get(connection)
  if (slots?.has(slotFor(connection, command)) !== true) return sendText(connection, source, command, shape)
  return connection.send(command, shape)
}

/**
 * EVAL, which teaches the server the text: also when it lost it (SCRIPT FLUSH, a failover, a slot that moved), so that the
 * caller never notices.
 *
 * In that last case the repeat is overtaken by what was asked on the same key in the meantime, since those commands are
 * on their way before the server's NOSCRIPT arrives. Whoever needs an order even then awaits the one before the other.
 */
export function sendText(
  connection: Connection,
  source: Source,
  command: Command,
  shape: Shape,
): Promise<Reply> {
  let slots = source.known.get(connection)
  if (slots === undefined) source.known.set(connection, (slots = new Set()))
  slots.add(slotFor(connection, command))
  return connection.send(['EVAL', source.text, ...command.slice(2)], shape)
}

function slotFor(connection: Connection, command: Command): number {
  return connection.cluster && command.length > 3 ? slotOf(String(command[3])) : 0
}

/** Sends it, and again with the text where the server has lost it: for what several askers share. */
export async function evaluate(
  connection: Connection,
  source: Source,
  command: Command,
  shape: Shape,
): Promise<Reply> {
  try {
    return await sendKnown(connection, source, command, shape)
  } catch (error) {
    if (!isUnknown(error)) throw error
    return sendText(connection, source, command, shape)
  }
}

/** Whether the server has lost the text of a script. */
export function isUnknown(error: unknown): boolean {
  return error instanceof ServerError && error.code === 'E_NO_SCRIPT'
}

import { InTransactionError } from '../../errors.ts'
import {
  ALL_KEYS,
  ALL_KEYS_BYTES,
  type Command,
  firstKeyOf,
  NO_KEY,
  ONE_KEY,
  type Reply,
  type Shape,
} from '../connection.ts'
import { ServerError } from '../server-error.ts'

/** Whether a reply reads as the status that a transaction answers instead of a reply. A stored text may read the same. */
export function readsQueued(reply: Reply): boolean {
  return reply === 'QUEUED' || (Buffer.isBuffer(reply) && reply.length === 6 && reply.equals(QUEUED))
}

const QUEUED = Buffer.from('QUEUED')

/**
 * Returns a reply that reads as `QUEUED` if the command can answer that text. Clients give the status and a stored text alike,
 * so a second command, which cannot answer it, tells whether the connection is in a transaction. If EXEC was sent between the
 * two, it says no: only GET is then answered truly, since it is read again.
 * @throws InTransactionError if the command was queued
 */
export async function outsideTransaction(
  reply: Reply,
  command: Command,
  shape: Shape,
  ask: (command: Command, shape: Shape) => Promise<Reply>,
): Promise<Reply> {
  if (!answersTexts(command)) throw inTransaction(command, shape)
  try {
    // In an array a text is told from the status, and a value that is read now is as good.
    if (command[0] === 'GET') {
      const again = (await ask(
        ['MGET', command[1]!],
        shape.bytes === true ? ALL_KEYS_BYTES : ALL_KEYS,
      )) as readonly Reply[]
      return again[0]!
    }
    const key = firstKeyOf(command, shape)
    await (key === undefined ? ask(['PING'], NO_KEY) : ask(['EXISTS', key], ONE_KEY))
    return reply
  } catch (error) {
    if (error instanceof InTransactionError) throw inTransaction(command, shape)
    // A user who may not ask was answered all the same.
    if (error instanceof ServerError) return reply
    throw error
  }
}

/** The error for a command that was queued. */
export function inTransaction(command: Command, shape: Shape): InTransactionError {
  const key = firstKeyOf(command, shape)
  const place = key === undefined ? '' : `${key}: `
  return new InTransactionError(
    `${place}${String(command[0])} was queued, since the program began a transaction (MULTI) over the same client: ` +
      'give Keyspec a client of its own, or make the transaction on another',
    key,
  )
}

/** Whether a command may answer any text by itself, rather than in an array. */
function answersTexts(command: Command): boolean {
  const name = String(command[0])
  return TEXTS.has(name) || (name === 'SET' && command.length > 3)
}

const TEXTS: ReadonlySet<string> = new Set(
  (
    'GET GETDEL GETEX GETSET GETRANGE SUBSTR DUMP ECHO CLIENT CONFIG HGET HRANDFIELD LINDEX LPOP RPOP LMOVE BLMOVE RPOPLPUSH ' +
    'BRPOPLPUSH SPOP SRANDMEMBER ZRANDMEMBER JSON.GET EVAL EVALSHA EVAL_RO EVALSHA_RO FCALL FCALL_RO'
  ).split(' '),
)

import type { Connection } from 'keyspec'
import {
  arrayReply,
  decodeReply,
  integerReply,
  listReply,
  NO_KEY,
  type Reply,
  type ReplyDecoder,
  storedReply,
  textReply,
  tupleReply,
} from 'keyspec/extend'

/** An array reply of names and values in turn. */
export const namedReply: ReplyDecoder<ReadonlyMap<string, Reply>> = (reply) => {
  const flat = arrayReply(reply)
  const named = new Map<string, Reply>()
  for (let at = 0; at + 1 < flat.length; at += 2) named.set(String(flat[at]), flat[at + 1]!)
  return named
}

/** An array reply of texts. */
export const textsReply = listReply(textReply)

/** The entries of a stream, as XRANGE answers them: each with its id, and fields and values in turn. */
export const entriesReply = listReply(tupleReply(storedReply, arrayReply))

/** What TIME answers, in ms. */
export const timeReply: ReplyDecoder<number> = (reply) => {
  const [seconds, micros] = decodeTime(reply)
  return Number(seconds) * 1000 + Number(micros) / 1000
}

const decodeTime = tupleReply(textReply, textReply)

/** Returns the server's clock in whole ms, rounded down. */
export async function serverTime(connection: Connection): Promise<number> {
  return Math.floor(decodeReply(timeReply, await connection.send(['TIME'], NO_KEY)))
}

/** Sends a command that answers a number. */
export async function numberOf(
  connection: Connection,
  ...[command, shape]: Parameters<Connection['send']>
): Promise<number> {
  return decodeReply(integerReply, await connection.send(command, shape))
}

import { KeyspecError, reason, UnsupportedClientError } from '../errors.ts'
import type { Reply } from './connection.ts'

/** Reads one form of reply, and throws a `TypeError` on any other. */
export type ReplyDecoder<T> = (reply: Reply) => T

/**
 * Reads the reply to a command.
 * @throws UnsupportedClientError if the reply is of a form that its decoder refuses
 */
export function decodeReply<T>(decoder: ReplyDecoder<T>, reply: Reply, key?: string): T {
  try {
    return decoder(reply)
  } catch (error) {
    if (error instanceof KeyspecError) throw error
    const place = key === undefined ? '' : `${key}: `
    throw new UnsupportedClientError(`${place}${reason(error)}, so the reply was not used`, key, error)
  }
}

/** Any reply, as it is. */
export const anyReply: ReplyDecoder<Reply> = (reply) => reply

/** An integer reply. */
export const integerReply: ReplyDecoder<number> = (reply) => {
  if (typeof reply !== 'number') throw unexpected('an integer', reply)
  return reply
}

/** An integer reply that stands for yes (1) or no (0). */
export const booleanReply: ReplyDecoder<boolean> = (reply) => integerReply(reply) === 1

/** A text reply. */
export const textReply: ReplyDecoder<string> = (reply) => {
  if (typeof reply !== 'string') throw unexpected('a text', reply)
  return reply
}

/** A bytes reply. */
export const bytesReply: ReplyDecoder<Buffer> = (reply) => {
  if (!Buffer.isBuffer(reply)) throw unexpected('bytes', reply)
  return reply
}

/** A stored value as a client gives it: text or bytes. */
export const storedReply: ReplyDecoder<string | Buffer> = (reply) => {
  if (typeof reply !== 'string' && !Buffer.isBuffer(reply)) throw unexpected('a text or bytes', reply)
  return reply
}

/** Nil as `undefined`, or what `decoder` reads. */
export const optionalReply =
  <T>(decoder: ReplyDecoder<T>): ReplyDecoder<T | undefined> =>
  (reply) =>
    reply === null ? undefined : decoder(reply)

/** An array reply, its elements as they are. */
export const arrayReply: ReplyDecoder<readonly Reply[]> = (reply) => {
  if (!isArray(reply)) throw unexpected('an array', reply)
  return reply
}

/** An array reply, every element read by `decoder`. */
export const listReply =
  <T>(decoder: ReplyDecoder<T>): ReplyDecoder<T[]> =>
  (reply) => {
    if (!isArray(reply)) throw unexpected('an array', reply)
    return reply.map(decoder)
  }

/** An array reply, each element read by the decoder at its place; elements that Lua cut off count as nil. */
export const tupleReply =
  <const T extends readonly ReplyDecoder<any>[]>(
    ...decoders: T
  ): ReplyDecoder<{ -readonly [I in keyof T]: ReturnType<T[I]> }> =>
  (reply) => {
    if (!isArray(reply)) throw unexpected('an array', reply)
    return decoders.map((decoder, index) => decoder(reply[index] ?? null)) as never
  }

/** Whether a reply is an array. */
export function isArray(reply: Reply): reply is readonly Reply[] {
  return Array.isArray(reply)
}

function unexpected(wanted: string, reply: Reply): TypeError {
  return new TypeError(`the server answered ${formOf(reply)} where ${wanted} was expected`)
}

function formOf(reply: Reply): string {
  if (reply === null) return 'nil'
  if (Array.isArray(reply)) return 'an array'
  return Buffer.isBuffer(reply) ? 'bytes' : typeof reply
}

// What an adapter, a codec, a kind or a recipe of your own is made of, and a tool that reads schemas: see CONTRIBUTING.md.

// Adapters: the port to a client.
export { boundOf, Deadline, type TimeoutOptions } from './connection/client/deadline.ts'
export { Flight, fly, type Route } from './connection/client/flight.ts'
export type { RawArgument, RawBufferReply } from './connection/client/resp.ts'
export { formOf, RespLine } from './connection/client/resp-line.ts'
export {
  ALL_KEYS,
  ALL_KEYS_BYTES,
  type Argument,
  type Command,
  firstKeyOf,
  keysOf,
  type Merge,
  NO_KEY,
  ONE_KEY,
  ONE_KEY_BYTES,
  type Outcome,
  type Reply,
  type Shape,
} from './connection/connection.ts'
export { pageOf } from './connection/page.ts'
export {
  anyReply,
  arrayReply,
  booleanReply,
  bytesReply,
  decodeReply,
  integerReply,
  listReply,
  optionalReply,
  type ReplyDecoder,
  storedReply,
  textReply,
  tupleReply,
} from './connection/reply.ts'
export { refusal, refused } from './connection/server-error.ts'
export { slotOf } from './connection/slot.ts'
export { unanswered } from './connection/unanswered.ts'
export { wrapConnection } from './connection/wrap.ts'

// Codecs: between a value and its bytes.
export { bytesCodec, textCodec } from './codec/codec.ts'
export { decodeStored } from './codec/readable.ts'

// Scripts: a Lua file as a typed function.
export {
  type Arguments,
  digits,
  double,
  flag,
  int,
  rest,
  type RestArgument,
  type ScriptArgument,
  serverNow,
  text as textArgument,
  times,
} from './script/argument.ts'
export type { Split } from './script/merge-equal.ts'
export { type RedisType, SPARABLE } from './script/proof.ts'
export {
  script,
  type Script,
  type ScriptKeys,
  type ScriptOptions,
  type ScriptValues,
} from './script/script.ts'

// Kinds and recipes: an entry of a schema.
export { globOf } from './kind/scan-names.ts'
export { keyReader, keyWriter, prefixed } from './kind/key-name.ts'
export { Many } from './kind/many.ts'
export { openEntry } from './kind/entry.ts'
export { fieldsOf } from './kind/fields.ts'
export type { Fingerprint } from './kind/fingerprint.ts'
export { type Home, homeOf, Key } from './kind/key.ts'
export { type Description, type Disagreement, type EntryOptions, keySpec, type Opening } from './kind/kind.ts'
export { type LifetimeOptions, ttlFor } from './kind/lifetime.ts'
export { ANNOUNCING, ANY_KEY, CROSSING, RENAMING, verbsOf } from './kind/permission.ts'
export { type PhaseInUse, phasesInUse, REGISTER } from './kind/phase.ts'
export { ASIDE, MARKER, moveAcross, type MoveResult } from './kind/renaming-across.ts'
export { nameIn } from './kind/renaming.ts'
export { LIFETIME, lifetimeNow } from './recipe/lifetime.ts'

// Schemas: what they declare, and whose a key is.
export { layoutDistance, shapeOf, stepBetween } from './layout.ts'
export type { ParamCodecs, ParamTexts, ParamValues } from './param.ts'
export { pattern, type Pattern } from './pattern.ts'
export {
  type Conflict,
  conflicts,
  ownedAnywhere,
  type OwnedPattern,
  patternsOf,
  type ValidateOptions,
} from './schema.ts'

// Small parts that the tools of Keyspec share.
export { onAbort } from './abort.ts'
export { nodeCrypto, nodeZlib } from './builtin.ts'
export { milliseconds, spell } from './duration.ts'
export { bytesIn } from './size.ts'
export { after, every, sleep, type Timer, type TimerOptions } from './timer.ts'

export { open, type Keyspace, type OpenOptions } from './keyspace.ts'
export type { LayoutManifest } from './layout.ts'
export { mount, validate, type Mount, type Schema } from './schema.ts'
export { type Duration } from './duration.ts'
export type { Size } from './size.ts'
export { type Params } from './pattern.ts'
export { type Digest, param, type ParamCodec } from './param.ts'
export { boolean } from './codec/boolean.ts'
export { bytes } from './codec/bytes.ts'
export { type Codec } from './codec/codec.ts'
export { number } from './codec/number.ts'
export { float32 } from './codec/float32.ts'
export { isoDate } from './codec/iso-date.ts'
export { integer } from './codec/integer.ts'
export { json } from './codec/json.ts'
export { text } from './codec/text.ts'
export { sqlDate } from './codec/sql-date.ts'
export { type Entry } from './kind/entry.ts'
export { type Many } from './kind/many.ts'
export { type Key } from './kind/key.ts'
export { counter, type CounterEntry, type CounterKey } from './kind/counter.ts'
export { type FieldInputs, fields, type FieldValues } from './kind/fields.ts'
export { hash, type HashEntry } from './kind/hash.ts'
export { type HashKey } from './kind/hash-key.ts'
export { list, type ListEntry } from './kind/list.ts'
export { type ListKey } from './kind/list-key.ts'
export { type ScoreRange } from './kind/score.ts'
export { set, type SetEntry } from './kind/set.ts'
export { type SetKey } from './kind/set-key.ts'
export { sortedSet, type SortedSetEntry } from './kind/sorted-set.ts'
export { type ScoredElement, type SortedSetKey } from './kind/sorted-set-key.ts'
export { stream, type StreamEntry } from './kind/stream.ts'
export { type StreamItem, type TrimmedItem } from './kind/stream-entries.ts'
export { type ClaimResult, type GroupInfo, type Pending, type StreamGroup } from './kind/stream-group.ts'
export { type StreamInfo, type StreamKey } from './kind/stream-key.ts'
export { string, type StringEntry, type StringKey } from './kind/string.ts'
export {
  type External,
  type ExternalKey,
  type Kind,
  type KeySpec,
  type Phase,
  type RenamedFrom,
} from './kind/kind.ts'
export { describeLifetime, type Lifetime } from './kind/lifetime.ts'
export { type Connection, type Subscriber } from './connection/connection.ts'
export type { Invalidations, InvalidationsListener } from './connection/tracking/invalidations.ts'
export { type BreakerState } from './connection/guard/breaker.ts'
export {
  guarded,
  type GuardedConnection,
  type GuardOptions,
  type Health,
  type StateChange,
} from './connection/guard/guarded.ts'
export { type PeakHour, type ResponseTimes } from './connection/guard/meter.ts'
export { isUnavailable, ServerError, type ServerErrorCode } from './connection/server-error.ts'
export {
  ClockError,
  ConflictError,
  DecodeError,
  EncodeError,
  InTransactionError,
  KeyError,
  KeyspecError,
  LeaseLostError,
  LoadFailedError,
  LoadTimeoutError,
  MigrationError,
  PhaseError,
  TwoNamesError,
  NotSentError,
  SchemaError,
  ScriptError,
  UnavailableError,
  UnknownOutcomeError,
  UnsupportedClientError,
} from './errors.ts'

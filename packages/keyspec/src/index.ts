export { open, type Keyspace, type OpenOptions } from './keyspace.ts'
export { mount, prove, type Mounted, type Schema } from './schema.ts'
export { type Duration } from './duration.ts'
export { type Params } from './pattern.ts'
export { day, digest, type Digest, hour, number, type ParamCodec } from './param.ts'
export { boolean } from './codec/boolean.ts'
export { bytes } from './codec/bytes.ts'
export { type Codec } from './codec/codec.ts'
export { decimal } from './codec/decimal.ts'
export { float32 } from './codec/float32.ts'
export { instant } from './codec/instant.ts'
export { integer } from './codec/integer.ts'
export { json } from './codec/json.ts'
export { text } from './codec/text.ts'
export { timestamp } from './codec/timestamp.ts'
export { string } from './kind/string.ts'
export { type Kind, type KeySpec } from './kind/kind.ts'
export { type Connection, type Subscriber } from './connection/connection.ts'
export { isUnavailable, ServerError, type ServerErrorCode } from './connection/server-error.ts'
export {
  DecodeError,
  EncodeError,
  KeyError,
  KeyspecError,
  LeaseLostError,
  MigrationError,
  SchemaError,
  ScriptError,
  UnavailableError,
} from './errors.ts'

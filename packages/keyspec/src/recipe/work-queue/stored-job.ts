import { type Codec, textCodec } from '../../codec/codec.ts'
import { decodeStored } from '../../codec/readable.ts'
import { SchemaError } from '../../errors.ts'

/** How a job stands in Redis: its own JSON, which names its id, or `<id> <payload>`. */
export interface StoredJob<T> {
  /** What stands before the id that the sequence gives; `encode` answers what follows it. */
  readonly head: string
  /** The text behind an id that is yet to be given. */
  encodeNew(job: any): string
  /** The whole text and the id of a job that names its own. */
  encodeNamed(job: any): { readonly id: string; readonly text: string }
  /** The job in a stored text. */
  decode(text: string): T
  /** The stored form as a codec, for the tools. */
  readonly codec: Codec<unknown>
}

/** How jobs of a codec stand, with the id in a field of theirs, or before them where there is none. */
export function storedJob<T>(pattern: string, codec: Codec<T, any>, field: string | undefined): StoredJob<T> {
  if (codec.bytes) {
    throw new SchemaError(`"${pattern}": a work queue keeps jobs as text, and ${codec.name} gives bytes`)
  }
  const encode = (job: unknown) => codec.encode(job) as string
  const decode = (text: string) => decodeStored(codec, text)
  if (field === undefined) {
    return {
      head: '',
      encodeNew: (job) => ` ${encode(job)}`,
      encodeNamed() {
        throw new SchemaError(`"${pattern}": jobs can name their own id only in a field: declare \`id\``)
      },
      decode: (text) => decode(text.slice(text.indexOf(' ') + 1)),
      codec: textCodec<unknown>({
        name: `id and ${codec.name}`,
        encode: (job) => `0 ${encode(job)}`,
        decode(text) {
          if (!/^\S+ /.test(text)) throw new TypeError('it does not begin with an id')
          return decode(text.slice(text.indexOf(' ') + 1))
        },
      }),
    }
  }
  if (!/^[A-Za-z_]\w*$/.test(field))
    throw new SchemaError(`"${pattern}": "${field}" is not the name of a field`)
  // The codec sees a job with an id, as its schema wants it; the script puts the true one in its place.
  const head = `{"${field}":`
  const zero = `${head}0`
  return {
    head,
    encodeNew(job) {
      const text = encode({ [field]: 0, ...job, [field]: 0 })
      if (!text.startsWith(`${zero},`) && text !== `${zero}}`) {
        throw new SchemaError(`"${pattern}": ${codec.name} does not give JSON that begins with ${zero}`)
      }
      return text.slice(zero.length)
    },
    encodeNamed(job) {
      const id = String((job as Record<string, unknown>)[field])
      if (!/^\S+$/.test(id)) throw new TypeError(`the ${field} of a job is a text without white space`)
      return { id, text: encode(job) }
    },
    decode,
    codec: codec as Codec<unknown>,
  }
}

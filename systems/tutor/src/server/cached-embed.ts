import type { Embedder } from '@keyspec-systems/model'

import type { Tutor } from '../keyspace.ts'
import type { Embed } from '../topic/anchor.ts'

/** The embedder with `cache:embedding` in front of it: only texts that are not there go to the model, all at once. */
export function cachedEmbed(embedder: Embedder, keys: Tutor): Embed {
  const prefix = `${embedder.model}\n`
  return async (texts, signal) => {
    const wanted = texts.map((text) => ({ contentHash: prefix + text }))
    const vectors = await keys.embedding.many(wanted).getOrLoad(
      async (missing, signal) => {
        const left = missing.map(({ contentHash }) => (contentHash as string).slice(prefix.length))
        return (await embedder.embed(left, signal)).map((vector) => [...vector])
      },
      signal === undefined ? {} : { signal },
    )
    return vectors.map((vector) => Float32Array.from(vector))
  }
}

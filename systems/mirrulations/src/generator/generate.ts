import { jobOf } from '../job.ts'
import type { Mirrulations } from '../keyspace.ts'
import { type Kind, kinds } from '../upstream/record-kind.ts'
import type { Regulations } from '../upstream/regulations.ts'
import { formatUtc, parseUtc } from '../upstream/timestamp.ts'

/** What a page has brought. */
export interface Generated {
  readonly kind: Kind
  readonly added: number
  /** Records that were known: seen at the end of the last page, or before a restart. */
  readonly known: number
  /** UTC, `YYYY-MM-DD HH:MM:SS`. */
  readonly watermark: string
}

/**
 * Makes a job of every record that was modified since the watermark, page by page. The watermark moves on only when the
 * jobs of a page are in the queue, so that a run which is cut off anywhere is taken up by the next; what that one lists
 * again is recognised by its name, and not queued twice.
 */
export async function* generate(
  keys: Mirrulations,
  regulations: Regulations,
  signal: AbortSignal,
): AsyncGenerator<Generated> {
  for (const kind of kinds) {
    await totalOf(keys, kind).set(await regulations.total(kind, signal))
    const since = await watermarkOf(keys, kind).get()
    const start = since === undefined ? undefined : formatUtc(since.getTime())
    for await (const { items, watermark } of regulations.pages(kind, start, signal)) {
      const jobs = items.map(jobOf)
      const names = new Map(jobs.map(({ job, name }) => [job, name]))
      const { added } = await keys
        .jobs()
        .add([...names.keys()], { unique: (job) => names.get(job as never)! })
      const seen = new Date(parseUtc(watermark))
      await watermarkOf(keys, kind).advance(seen)
      await keys.seen().advance(seen)
      yield { kind, added, known: items.length - added, watermark }
      if (signal.aborted) return
    }
  }
}

/** How far the generator has come with one kind. */
function watermarkOf(keys: Mirrulations, kind: Kind) {
  return { dockets: keys.docketsSeen, documents: keys.documentsSeen, comments: keys.commentsSeen }[kind]()
}

/** How many records of one kind there are upstream. */
function totalOf(keys: Mirrulations, kind: Kind) {
  return { dockets: keys.docketsTotal, documents: keys.documentsTotal, comments: keys.commentsTotal }[kind]()
}

import { type Op, succeeded, valueOf } from '../history.ts'
import { byKey, type Evidence, type Model, type Violation } from './model.ts'

/** A cache never answers what was deleted before the read began. Reads that joined another are judged by `cache-overtaken`. */
export const cacheDeleted: Model = {
  invariant: 'cache-deleted',
  judge: (evidence) => stale(evidence, { joined: false }),
}

/**
 * Returns the reads that answered what an earlier load gave, though a delete began after that load began and ended
 * before the read began.
 * @param joined - Whether a read of the same process, which was under way when the delete came, gave the same answer.
 */
export function stale(evidence: Evidence, { joined }: { readonly joined: boolean }): Violation[] {
  return Array.from(byKey(evidence, 'page'), ([key, ops]) => {
    const loads = new Map<string, Op>()
    for (const op of ops) if (op.verb === 'load' && succeeded(op)) loads.set(valueOf<string>(op)!, op)
    const readers = new Map<string, Op[]>()
    const deletes = ops.filter((op) => op.verb === 'delete' && succeeded(op)).sort((a, b) => a.end - b.end)
    let ended = 0
    return ops
      .filter(({ verb }) => verb === 'read')
      .flatMap((read) => {
        // The operations stand in the order of their starts.
        while (ended < deletes.length && deletes[ended]!.end < read.start) ended += 1
        const value = valueOf<string | null>(read)
        const load = typeof value === 'string' ? loads.get(value) : undefined
        if (load === undefined) return []
        const same = readers.get(load.id) ?? []
        readers.set(load.id, [...same, read])
        let gone: Op | undefined
        for (let at = ended - 1; at >= 0 && deletes[at]!.end > load.start; at -= 1)
          if (deletes[at]!.start > load.start) gone ??= deletes[at]
        if (gone === undefined) return []
        const { end } = gone
        const other = same.find(
          (each) => each.process === read.process && each.start < end && each.end >= read.start,
        )
        if ((other !== undefined) !== joined) return []
        const shown = other === undefined ? [load, gone, read] : [load, gone, other, read]
        return [{ what: `${key} answered what had been deleted`, ops: shown }]
      })
  }).flat()
}

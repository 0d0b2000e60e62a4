import { valueOf } from '../history.ts'
import { type Model } from './model.ts'

/** The keys of a migration or an import after it was killed and run again. */
export interface Moved {
  readonly keys: number
  /** Keys that are gone, or whose value is another. */
  readonly missing: number
  /** Keys whose time to live is gone, longer, or shorter than the time that has passed explains. */
  readonly lifetimes: number
}

/** A migration or an import that is killed anywhere and run again loses no key and no time to live. */
export const moveWhole: Model = {
  invariant: 'move-whole',
  judge: ({ ops }) =>
    ops.flatMap((op) => {
      const moved = op.recipe === 'move' ? valueOf<Moved>(op) : undefined
      if (moved === undefined || (moved.missing === 0 && moved.lifetimes === 0)) return []
      const { keys, missing, lifetimes } = moved
      return [
        { what: `of ${keys} keys ${missing} are missing and ${lifetimes} have a wrong lifetime`, ops: [op] },
      ]
    }),
}

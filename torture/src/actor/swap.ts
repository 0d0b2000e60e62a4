import { DECLARED } from '../schema.ts'
import type { Routine } from './world.ts'

/** Replaces a set whole, and reads it. */
export const swap: Routine = {
  pauseMs: 25,
  async step({ keys, record, random, unique }) {
    if (random.chance(0.2)) {
      const generation = unique()
      const members = Array.from({ length: DECLARED.members }, (_, index) => `${generation}/${index}`)
      await record(
        { recipe: 'swap', verb: 'replace', key: 'swap', asked: generation },
        () => keys.swap().replace(members),
        ({ replaced }) => replaced,
      )
      return
    }
    await record(
      { recipe: 'swap', verb: 'members', key: 'swap' },
      () => keys.swap().members(),
      (members) => ({
        size: members.size,
        generations: [...new Set(Array.from(members, (member) => member.split('/')[0]))],
      }),
    )
  },
}

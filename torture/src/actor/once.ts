import type { Routine } from './world.ts'

/** Counts, pushes, pops, appends and claims: verbs that must not happen twice. */
export const once: Routine = {
  pauseMs: 15,
  async step({ keys, record, random, unique, client }) {
    const verb = random.pick(['increment', 'field', 'pushBack', 'popFront', 'append', 'claim'] as const)
    if (verb === 'increment')
      // A counter for each client, so that a wrong count names it.
      await record({ recipe: 'hits', verb, key: client }, () => keys.hits({ id: client }).increment())
    else if (verb === 'field')
      await record({ recipe: 'tally', verb: 'increment', key: client }, () =>
        keys.tally({ id: client }).increment('count'),
      )
    else if (verb === 'append') {
      const event = unique()
      await record({ recipe: 'events', verb: 'add', key: 'events', asked: event }, () =>
        keys.events().add({ event }),
      )
    } else if (verb === 'pushBack') {
      const element = unique()
      await record({ recipe: 'items', verb, key: 'items', asked: element }, () =>
        keys.items().pushBack(element),
      )
    } else if (verb === 'popFront')
      await record({ recipe: 'items', verb, key: 'items' }, () => keys.items().popFront())
    else {
      // Two processes or more come to the same value at about the same time.
      const value = `${Math.floor(Date.now() / 200)}`
      await record(
        { recipe: 'claims', verb, key: 'claims', asked: value },
        () => keys.claims().claim([value]),
        (claimed) => claimed.length === 1,
      )
    }
  },
}

import { isLost, type Op, succeeded, valueOf } from '../history.ts'
import { byKey, type Evidence, type Model, type Violation } from './model.ts'
import { miscounted } from './update-lost.ts'

/** A verb is applied at most once, and its answer is true: counters, lists, streams and claims. */
export const appliedOnce: Model = {
  invariant: 'applied-once',
  judge: (evidence) => [...counters(evidence), ...lists(evidence), ...events(evidence), ...claims(evidence)],
}

function counters(evidence: Evidence): Violation[] {
  return Array.from(byKey(evidence, 'hits', 'tally'), ([key, ops]) => {
    const stored = evidence.final?.numbers[key]
    return stored === undefined ? [] : miscounted(key, ops, stored)
  }).flat()
}

/** Each element is popped once or is still there once; those that are gone are as many as pops were lost, at most. */
function lists(evidence: Evidence): Violation[] {
  return Array.from(byKey(evidence, 'items'), ([key, ops]) => {
    const found: Violation[] = []
    const takers = new Map<string, Op>()
    for (const op of ops) {
      const element = op.verb === 'popFront' ? valueOf<string | null>(op) : undefined
      if (typeof element !== 'string') continue
      const taker = takers.get(element)
      if (taker !== undefined) found.push({ what: `${key}: ${element} was popped twice`, ops: [taker, op] })
      takers.set(element, op)
    }
    if (evidence.final === undefined) return found
    const left = new Set<string>()
    for (const element of evidence.final.items) {
      const pushes = ops.filter((op) => op.verb === 'pushBack' && op.asked === element)
      const taker = takers.get(element)
      if (left.has(element)) found.push({ what: `${key} holds ${element} twice`, ops: pushes })
      else if (taker !== undefined)
        found.push({ what: `${key} still holds ${element}, which was popped`, ops: [...pushes, taker] })
      left.add(element)
    }
    const gone = ops.filter(
      (op) =>
        op.verb === 'pushBack' &&
        succeeded(op) &&
        !takers.has(op.asked as string) &&
        !left.has(op.asked as string),
    )
    const lostPops = ops.filter((op) => op.verb === 'popFront' && isLost(op))
    if (gone.length > lostPops.length)
      found.push({ what: `${key} lost ${gone.length} elements, by ${lostPops.length} lost pops`, ops: gone })
    return found
  }).flat()
}

/** Each event that was added is there once, and one that was refused is not there. */
function events(evidence: Evidence): Violation[] {
  if (evidence.final === undefined) return []
  const times = new Map<string, number>()
  for (const event of evidence.final.events) times.set(event, (times.get(event) ?? 0) + 1)
  return Array.from(byKey(evidence, 'events'), ([key, ops]) =>
    ops.flatMap((op): Violation[] => {
      const stands = times.get(op.asked as string) ?? 0
      if (isLost(op) ? stands <= 1 : stands === (succeeded(op) ? 1 : 0)) return []
      return [{ what: `${key} holds ${op.asked as string} ${stands} times`, ops: [op] }]
    }),
  ).flat()
}

/** A value is claimed by one caller; if it was claimed, by one that heard of it or whose answer was lost. */
function claims(evidence: Evidence): Violation[] {
  const byValue = new Map<string, Op[]>()
  for (const ops of byKey(evidence, 'claims').values())
    for (const op of ops) byValue.set(op.asked as string, [...(byValue.get(op.asked as string) ?? []), op])
  return Array.from(byValue, ([value, ops]): Violation[] => {
    const winners = ops.filter((op) => valueOf(op) === true)
    if (winners.length > 1) return [{ what: `${value} was claimed ${winners.length} times`, ops: winners }]
    const losers = ops.filter((op) => valueOf(op) === false)
    if (winners.length === 0 && losers.length > 0 && !ops.some(isLost))
      return [{ what: `${value} was claimed by nobody, though all were told that another did`, ops: losers }]
    return []
  }).flat()
}

import type { Size } from 'keyspec'
import { bytesIn } from 'keyspec/extend'
import { configured, type Diagnosis } from './diagnosis.ts'
import type { NodeFacts } from './node-facts.ts'
import { entriesOf, listed, type ServerNeeds } from './server-needs.ts'

/** Whether memory is bounded, and whether what is evicted when it is full is what may be. */
export function* memory({ info }: NodeFacts, needs: ServerNeeds): Generator<Diagnosis> {
  const policy = info.get('maxmemory_policy')
  if (policy === undefined) return
  const maxmemory = Number(info.get('maxmemory') ?? 0)
  yield* bound(info, policy, maxmemory, needs)
  yield* eviction(policy, maxmemory > 0, needs)
  const used = Number(info.get('used_memory') ?? 0)
  if (maxmemory > 0 && policy === 'noeviction' && used > 0.9 * maxmemory) {
    const message = `${Math.round((100 * used) / maxmemory)} % of maxmemory is used, and nothing is evicted: writes will be refused`
    const diagnosis = { code: 'memory-full', severity: 'error', message } as const
    const fitting = fittingSize(info)
    const { maxmemory: most } = needs.policy
    const limit = most === undefined ? Infinity : bytesIn(most)
    const more = fitting === undefined ? 0 : Math.min(maxmemory * 2, bytesIn(fitting), limit)
    const helps = more > maxmemory && used * ROOM <= more
    yield helps ? configured(diagnosis, [['maxmemory', String(more)]]) : diagnosis
  }
  const evicted = Number(info.get('evicted_keys') ?? 0)
  if (evicted > 0) {
    const isCache = needs.keptExpiring.length + needs.keptForever.length === 0
    const message = `${evicted} keys were evicted since the server started`
    yield { code: 'evicted', severity: isCache ? 'info' : 'warning', message }
  }
}

const MB = 1024 ** 2

function* bound(
  info: NodeFacts['info'],
  policy: string,
  maxmemory: number,
  needs: ServerNeeds,
): Generator<Diagnosis> {
  const { maxmemory: most } = needs.policy
  const used = Number(info.get('used_memory') ?? 0)
  const growing = entriesOf([...needs.evictableExpiring, ...needs.evictableForever])
  if (maxmemory === 0 && (most !== undefined || growing.length > 0)) {
    const why =
      most === undefined ? `${listed(growing)} may grow until the machine has none left` : `declared: ${most}`
    const severity = most === undefined ? 'warning' : 'error'
    yield limited(`maxmemory is not set (${why})`, severity, most ?? fittingSize(info), used, policy)
  } else if (most !== undefined && maxmemory > bytesIn(most)) {
    yield limited(`maxmemory is ${maxmemory} bytes, declared: at most ${most}`, 'error', most, used, policy)
  }
}

/** Advises a bound only if the server's keys fit below it with some room: a lower one would evict keys or refuse writes at once. */
function limited(
  message: string,
  severity: Diagnosis['severity'],
  size: Size | undefined,
  used: number,
  policy: string,
): Diagnosis {
  const diagnosis = { code: 'maxmemory', severity } as const
  const held = `the server holds ${Math.ceil(used / MB)} MB`
  if (size === undefined)
    return {
      ...diagnosis,
      message: `${message}; ${held}, and does not say how much memory its machine has: set it below that, and above what is held`,
    }
  if (used * ROOM <= bytesIn(size)) return configured({ ...diagnosis, message }, [['maxmemory', size]])
  const does = policy === 'noeviction' ? 'refuse writes' : `evict keys (${policy})`
  return {
    ...diagnosis,
    message: `${message}; ${held}, so ${size} would soon ${does}: delete what is not needed first, or give it more memory`,
  }
}

const ROOM = 1.1

/** Three quarters of the machine's memory, in whole MB; `undefined` where the server does not know it. */
function fittingSize(info: NodeFacts['info']): Size | undefined {
  const total = Number(info.get('total_system_memory') ?? 0)
  return total > 0 ? (`${Math.floor((total * 0.75) / MB)}mb` as Size) : undefined
}

function* eviction(policy: string, isBounded: boolean, needs: ServerNeeds): Generator<Diagnosis> {
  const { maxmemoryPolicy: declared } = needs.policy
  const better = fitting(needs)
  const kept = [...needs.keptExpiring, ...(policy.startsWith('allkeys') ? needs.keptForever : [])]
  const lost = policy === 'noeviction' ? [] : entriesOf(kept)
  if (declared !== undefined && declared !== policy) {
    const message = `maxmemory-policy is ${policy}, declared: ${declared}`
    yield configured({ code: 'policy', severity: 'error', message }, [['maxmemory-policy', declared]])
  }
  if (lost.length > 0) {
    const when = isBounded ? 'when memory is full' : 'as soon as maxmemory is set'
    const message = `${policy} evicts, ${when}, keys that must not be: ${listed(lost)}`
    yield configured(
      { code: 'evicts-kept', severity: isBounded ? 'error' : 'warning', message, entries: lost },
      [['maxmemory-policy', better]],
    )
    return
  }
  if (declared === policy || !isBounded) return
  const evictable = entriesOf([...needs.evictableExpiring, ...needs.evictableForever])
  if (policy === 'noeviction' && evictable.length > 0 && better !== 'noeviction') {
    const message = `noeviction refuses writes when memory is full, though ${listed(evictable)} may be evicted`
    yield configured({ code: 'evicts-nothing', severity: 'warning', message, entries: evictable }, [
      ['maxmemory-policy', better],
    ])
  } else if (policy.startsWith('volatile') && needs.evictableExpiring.length === 0) {
    const message = `${policy} evicts keys that expire, and none is declared: it behaves as noeviction`
    // Where nothing may be evicted that is all right.
    const severity = evictable.length > 0 ? 'warning' : 'info'
    yield configured({ code: 'evicts-nothing', severity, message }, [['maxmemory-policy', better]])
  }
}

/** A policy that evicts no key that must stay, and what it may of the others. */
function fitting({
  policy,
  keptExpiring,
  keptForever,
  evictableExpiring,
  evictableForever,
}: ServerNeeds): string {
  if (policy.maxmemoryPolicy !== undefined) return policy.maxmemoryPolicy
  if (keptExpiring.length > 0) return 'noeviction'
  if (keptForever.length === 0 && evictableExpiring.length + evictableForever.length > 0) return 'allkeys-lru'
  return evictableExpiring.length > 0 ? 'volatile-lru' : 'noeviction'
}

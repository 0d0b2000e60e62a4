import { bytesIn } from 'keyspec/extend'
import { configured, type Diagnosis } from './diagnosis.ts'
import type { NodeFacts } from './node-facts.ts'
import { entriesOf, listed, type ServerNeeds } from './server-needs.ts'

/** Whether memory is bounded, and whether what is evicted when it is full is what may be. */
export function* memory({ info }: NodeFacts, needs: ServerNeeds): Generator<Diagnosis> {
  const policy = info.get('maxmemory_policy')
  if (policy === undefined) return
  const maxmemory = Number(info.get('maxmemory') ?? 0)
  yield* bound(maxmemory, needs)
  yield* eviction(policy, maxmemory > 0, needs)
  const used = Number(info.get('used_memory') ?? 0)
  if (maxmemory > 0 && policy === 'noeviction' && used > 0.9 * maxmemory) {
    const message = `${Math.round((100 * used) / maxmemory)} % of maxmemory is used, and nothing is evicted: writes will be refused`
    yield configured({ code: 'memory-full', severity: 'error', message }, [
      ['maxmemory', String(maxmemory * 2)],
    ])
  }
  const evicted = Number(info.get('evicted_keys') ?? 0)
  if (evicted > 0) {
    const isCache = needs.keptExpiring.length + needs.keptForever.length === 0
    const message = `${evicted} keys were evicted since the server started`
    yield { code: 'evicted', severity: isCache ? 'info' : 'warning', message }
  }
}

function* bound(maxmemory: number, needs: ServerNeeds): Generator<Diagnosis> {
  const { maxmemory: most } = needs.policy
  const growing = entriesOf([...needs.evictableExpiring, ...needs.evictableForever])
  if (maxmemory === 0 && (most !== undefined || growing.length > 0)) {
    const why =
      most === undefined ? `${listed(growing)} may grow until the machine has none left` : `declared: ${most}`
    const severity = most === undefined ? 'warning' : 'error'
    yield configured({ code: 'maxmemory', severity, message: `maxmemory is not set (${why})` }, [
      ['maxmemory', most ?? '1gb'],
    ])
  } else if (most !== undefined && maxmemory > bytesIn(most)) {
    const message = `maxmemory is ${maxmemory} bytes, declared: at most ${most}`
    yield configured({ code: 'maxmemory', severity: 'error', message }, [['maxmemory', most]])
  }
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

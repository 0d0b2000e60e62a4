import { configured, type Diagnosis } from './diagnosis.ts'
import type { NodeFacts } from './node-facts.ts'
import { entriesOf, listed, type ServerNeeds } from './server-needs.ts'

/** Whether what is written to disk is what must be. */
export function* persistence({ info, config }: NodeFacts, needs: ServerNeeds): Generator<Diagnosis> {
  if (info.get('rdb_last_bgsave_status') === 'err')
    yield failed('the last snapshot could not be written: see the log of the server, and its disk')
  if (info.get('aof_last_write_status') === 'err' || info.get('aof_last_bgrewrite_status') === 'err')
    yield failed('the append-only file could not be written: see the log of the server, and its disk')
  const save = config.get('save')
  const appends = config.get('appendonly') ?? (info.get('aof_enabled') === '1' ? 'yes' : undefined)
  // Without CONFIG one knows that something is written, never that nothing is.
  const isWritten = (save !== undefined && save !== '') || appends === 'yes'
  if (!isWritten && (save === undefined || appends === undefined)) return
  const { persistence: declared } = needs.policy
  const kept = entriesOf([...needs.keptForever, ...needs.keptExpiring])
  if (isWritten && (declared === 'none' || (declared === undefined && kept.length === 0))) {
    const what = [...(save ? ['snapshots'] : []), ...(appends === 'yes' ? ['an append-only file'] : [])]
    const message = `the server writes ${what.join(' and ')}, ${declared === 'none' ? 'declared: nothing on disk' : 'and all that is declared is cache'}`
    yield configured({ code: 'persistence', severity: declared === 'none' ? 'error' : 'warning', message }, [
      ...(save ? [['save', ''] as const] : []),
      ...(appends === 'yes' ? [['appendonly', 'no'] as const] : []),
    ])
  }
  if (!isWritten && (declared === 'required' || (declared === undefined && kept.length > 0))) {
    const message =
      declared === 'required'
        ? 'nothing is written to disk, declared: what is there must outlive the server'
        : `nothing is written to disk: a restart loses what must stay (${listed(kept)})`
    const severity = declared === 'required' ? 'error' : 'warning'
    yield configured({ code: 'persistence', severity, message, entries: kept }, [['appendonly', 'yes']])
  }
}

function failed(message: string): Diagnosis {
  return {
    code: 'save-failed',
    severity: 'error',
    message,
    remedies: [{ kind: 'send', command: ['BGSAVE'] }],
  }
}

import { validate } from 'keyspec'
import {
  cleanupKeys,
  type CleanupOptions,
  keepsIdleTimes,
  MOST_IDLE_MS,
  type ViolationSum,
} from '@keyspec/inspect'
import { command } from '../command.ts'
import { refusal } from '../confirmation.ts'
import { exit, misused } from '../failure.ts'
import { confirmOptions, selectionOf, selectionOptions, serverOptions } from '../options.ts'
import { commandLine } from '../render/command-line.ts'
import { counted, time } from '../render/units.ts'
import { watch, watchChange } from '../terminal/watch.ts'
import { cleanupSchema, isLeft, overdueText, reportOverdue, sumOf } from './cleanup-report.ts'

const UNIT_MS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** `keyspec cleanup` */
export const cleanup = command({
  options: {
    ...serverOptions,
    ...selectionOptions,
    repair: { about: 'give keys without a time to live the one that is declared' },
    cap: { about: 'lower a time to live that is above the declared one' },
    idle: { value: 'TIME', about: 'delete chosen keys that nobody has touched for 90m, 12h, 30d …' },
    'dry-run': { about: 'only show what would be done' },
    ...confirmOptions,
  },
  examples: [
    ['keyspec cleanup', 'what is past its policy, by entry; nothing is changed'],
    ['keyspec cleanup --repair --cap', 'gives every key its declared time to live; asks first'],
    ['keyspec cleanup --entry session --idle 30d --dry-run', 'sessions that nobody has touched for a month'],
  ],
  json: { form: 'lines', schema: cleanupSchema },
  async run(call) {
    const { options, out, log, signal } = call
    const idleMs = options.idle === undefined ? undefined : idleOf(options.idle)
    const settings = await call.config()
    const { schema, prefix } = settings
    validate(schema, { prefix })
    const chosen = selectionOf(options, settings)
    const isNarrowed = [chosen.entries, chosen.under, chosen.subject].some((each) => each !== undefined)
    if (idleMs !== undefined && !isNarrowed)
      throw misused('--idle deletes keys: say which, with --entry, --under or --subject')
    const connection = await call.connect()
    if (idleMs !== undefined && !(await keepsIdleTimes(connection)))
      throw misused(
        'under its LFU policy (maxmemory-policy) the server counts how often a key is used, not since when it is idle: ' +
          '--idle cannot be told here',
      )
    const how: CleanupOptions = { ...chosen, idleMs, maxLoad: options['max-load'], signal }
    const { repair = false, cap = false } = options
    const isMended = ({ problem }: Pick<ViolationSum, 'problem'>) =>
      (problem === 'no-ttl' && repair) || (problem === 'ttl-too-long' && cap) || problem === 'idle'

    const preview = await watch(call, cleanupKeys(schema, connection, how), { done: 'looked at' })
    const due = sumOf(preview, 'keys', isMended)
    const acts = repair || cap || idleMs !== undefined
    if (!acts || options['dry-run'] === true || due === 0) {
      reportOverdue(out, preview, true)
      // A dry run of what was asked for is a preview, not a verdict.
      if (acts && options['dry-run'] === true) return exit.fine
      return preview.violations.some(isLeft) ? exit.findings : exit.fine
    }
    log.say(overdueText(preview, log.paint))
    const idle = sumOf(preview, 'keys', ({ problem }) => problem === 'idle')
    const does = [
      ...(due > idle ? [`Give ${counted(due - idle, 'key')} the declared time to live`] : []),
      ...(idle > 0 ? [`Delete ${counted(idle, 'key')} idle for ${time(idleMs!)}`] : []),
    ].join(', and ')
    const refused = await refusal(call, `${does}?`, 'cleanup')
    if (refused !== undefined) return refused

    const work = cleanupKeys(schema, connection, { ...how, repair, cap, eraseIdle: true })
    const done = await watchChange(call, work, {
      doing: 'fixed',
      of: { total: due, count: (soFar) => sumOf(soFar, 'fixed') },
      stopped(soFar = { violations: [] }) {
        reportOverdue(out, soFar, false)
        const again = commandLine('cleanup', [], options)
        log.say(`stopped after ${counted(sumOf(soFar, 'fixed'), 'key')}; to go on: ${again}`)
      },
    })
    if (done === undefined) return exit.interrupted
    reportOverdue(out, done, true)
    return done.violations.some(isLeft) ? exit.findings : exit.fine
  },
})

function idleOf(text: string): number {
  const [, amount, unit] = /^(\d+(?:\.\d+)?)([smhd])$/.exec(text) ?? []
  const ms = Number(amount) * UNIT_MS[unit ?? '']!
  if (!(ms >= 1000)) throw misused(`--idle takes a time such as 90m, 12h or 30d, not ${JSON.stringify(text)}`)
  if (ms >= MOST_IDLE_MS)
    throw misused(`--idle can be told up to ${time(MOST_IDLE_MS)}: the server’s clock for it goes no further`)
  return ms
}

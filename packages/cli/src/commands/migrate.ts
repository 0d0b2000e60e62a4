import { validate } from 'keyspec'
import { planMigration, rollBackMigration, runMigration, verifyMigration } from '@keyspec/inspect'
import { command } from '../command.ts'
import { refusal } from '../confirmation.ts'
import { exit, misused } from '../failure.ts'
import { confirmOptions, selectionOf, selectionOptions, serverOptions } from '../options.ts'
import { commandLine } from '../render/command-line.ts'
import { counted } from '../render/units.ts'
import { watch, watchChange } from '../terminal/watch.ts'
import { migrateSchema } from './migrate-json.ts'
import { type Action, countOf, findingsOf, report, reportText } from './migrate-report.ts'

const ACTIONS = ['plan', 'run', 'verify', 'rollback'] as const satisfies readonly Action[]

/** `keyspec migrate plan|run|verify|rollback` */
export const migrate = command({
  operands: 'plan|run|verify|rollback',
  options: {
    ...serverOptions,
    entry: selectionOptions.entry,
    under: selectionOptions.under,
    keep: {
      value: 'new',
      about: 'run: where a key stands at both names, delete the old value; else both are left',
    },
    'renamed-from': {
      value: 'PATTERN',
      about: 'rollback: the old name to go back to, where there were several',
    },
    sample: {
      value: 'KEYS',
      number: true,
      about: 'verify: values to decode under each rule (100 unless told)',
    },
    expect: { value: 'KEYS', number: true, about: 'verify: at least so many keys stand at their new names' },
    'dry-run': { about: 'run, rollback: only show what would be moved' },
    ...confirmOptions,
  },
  examples: [
    [
      'keyspec migrate plan',
      'the keys at old names (`renamedFrom` in the schema), and what stands in their way',
    ],
    ['keyspec migrate run --entry session', 'moves the keys of an entry; asks first'],
    ['keyspec migrate run --keep new --yes', 'all keys; of two values the one at the new name stays'],
    ['keyspec migrate verify', 'that nothing is left, and what was moved can be read'],
    ['keyspec migrate rollback --entry session', 'back to the old name'],
  ],
  json: { form: 'lines', schema: migrateSchema },
  async run(call) {
    const { options, operands, out, log, signal } = call
    const action = ACTIONS.find((each) => each === operands[0])
    if (action === undefined) throw misused(`keyspec migrate takes one of ${ACTIONS.join(', ')}`)
    if (options.keep !== undefined && options.keep !== 'new')
      throw misused(
        '--keep takes new: whoever reads both names writes to the new one, so the old value is the older; ' +
          'where you know better, delete the new key first',
      )
    for (const [option, meant] of [
      ['keep', 'run'],
      ['renamed-from', 'rollback'],
      ['sample', 'verify'],
      ['expect', 'verify'],
    ] as const)
      if (options[option] !== undefined && action !== meant)
        throw misused(`--${option} is for migrate ${meant}`)
    const settings = await call.config()
    const { schema, prefix } = settings
    validate(schema, { prefix })
    const { entries, under } = selectionOf(options, settings)
    const how = {
      prefix,
      entries,
      under,
      renamedFrom: options['renamed-from'],
      maxLoad: options['max-load'],
      signal,
    }
    const connection = await call.connect()

    if (action === 'plan' || action === 'verify') {
      const work =
        action === 'plan'
          ? planMigration(schema, connection, how)
          : verifyMigration(schema, connection, { ...how, sample: options.sample })
      const found = await watch(call, work, LOOKING)
      report(out, action, found, true)
      const there = countOf(found, 'migrated')
      const missing = options.expect !== undefined && there < options.expect
      if (missing)
        log.say(
          `${counted(there, 'key')} at new names, ${counted(options.expect - there, 'key')} fewer than expected`,
        )
      return missing || countOf(found, ...findingsOf[action]) > 0 ? exit.findings : exit.fine
    }

    const plan = await watch(call, planMigration(schema, connection, how), LOOKING)
    const waiting =
      action === 'run'
        ? countOf(plan, 'waiting', ...(options.keep === 'new' ? (['conflict'] as const) : []))
        : countOf(plan, 'migrated')
    if (options['dry-run'] === true) {
      report(out, 'plan', plan, true)
      return exit.fine
    }
    log.say(reportText('plan', plan, log.paint))
    const [does, word] =
      action === 'run' ? (['Move', 'migrate'] as const) : (['Move back', 'rollback'] as const)
    if (waiting > 0) {
      const refused = await refusal(call, `${does} up to ${counted(waiting, 'key')}?`, word)
      if (refused !== undefined) return refused
    }

    const work =
      action === 'run'
        ? runMigration(schema, connection, { ...how, keep: options.keep })
        : rollBackMigration(schema, connection, how)
    const done = await watchChange(call, work, {
      doing: 'moved',
      of: { total: waiting, count: (soFar) => countOf(soFar, 'moved', 'dropped', 'gone') },
      stopped(soFar = { counts: {}, rules: [] }) {
        report(out, action, soFar, false)
        const again = commandLine('migrate', operands, options)
        log.say(`stopped after ${counted(countOf(soFar, 'moved', 'dropped'), 'key')}; to go on: ${again}`)
      },
    })
    if (done === undefined) return exit.interrupted
    report(out, action, done, true)
    return countOf(done, ...findingsOf[action]) > 0 ? exit.findings : exit.fine
  },
})

const LOOKING = { done: 'looked at' } as const

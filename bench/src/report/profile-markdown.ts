import type { Job } from '../job.ts'
import { owners } from '../profile/place-of.ts'
import type { Command, Profiled } from '../profile/profile.ts'
import { type Circumstances, row, setting } from './markdown.ts'

/** Where the time went in some cases of a job: by whose code, and by function. */
export function profileSection(job: Job, profiled: readonly Profiled[], made: Circumstances): string[] {
  const title = ({ contender, case: name, cores }: Profiled) =>
    `${name}, ${job.contenders[contender]!.label}${cores === 2 ? ', on two cores' : ''}`
  const shown = owners.filter((owner) => profiled.some(({ shares }) => (shares[owner] ?? 0) >= 0.05))
  return [
    '',
    "### Where the client's time goes",
    '',
    `Ours where it misses a target, or where somebody asked, for ${made.roundMs} ms under Node's CPU profiler, which slows it: self time in percent of all samples. ` +
      'Of the server, how often each command ran for one item and what one took, scripts with what runs inside them.',
    '',
    `_${setting(made)}._`,
    '',
    ...row([job.name, ...shown, 'server']),
    `|${'---|'.repeat(shown.length + 2)}`,
    ...profiled.flatMap((each) =>
      row([
        title(each),
        ...shown.map((owner) => percent(each.shares[owner])),
        each.commands.map(ran).join(', '),
      ]),
    ),
    ...profiled.flatMap((each) => [
      '',
      `**${title(each)}**`,
      '',
      ...row(['%', 'function', 'in']),
      '|---|---|---|',
      ...each.functions.flatMap(({ name, file, share }) => row([percent(share), `\`${name}\``, file])),
    ]),
  ]
}

function percent(share = 0): string {
  return share.toFixed(1)
}

function ran({ name, calls, micros }: Command): string {
  return `${calls.toFixed(calls >= 0.1 ? 2 : 4)} ${name.toUpperCase().replace('|', ' ')} of ${micros.toFixed(1)} µs`
}

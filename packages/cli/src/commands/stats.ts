import { watch } from '../terminal/watch.ts'
import {
  type Bucket,
  escapeKey,
  type NamedShare,
  type SnapshotSource,
  stats as statsOf,
  type Stats,
  type StatsGroup,
  type KeyStats,
} from '@keyspec/inspect'
import { type Call, command, type Given } from '../command.ts'
import { exit, misused } from '../failure.ts'
import { selectionOf, selectionOptions, serverOptions } from '../options.ts'
import { estimate, percent } from '../render/estimate.ts'
import { table } from '../render/table.ts'
import { bytes, count, counted, time } from '../render/units.ts'
import type { Paint } from '../terminal/paint.ts'
import { snapshotJson, snapshotOptions, snapshotText, withKeys } from './snapshot.ts'
import { statsJson } from './stats-json.ts'

const options = {
  ...serverOptions,
  ...selectionOptions,
  ...snapshotOptions,
  by: { value: 'WHAT', about: 'group by entry (unless told) or by prefix' },
  depth: {
    value: 'N',
    number: true,
    about: 'with --by prefix: so many pieces between colons (1 unless told)',
  },
  sample: {
    value: 'N',
    number: true,
    about: 'look at about so many keys, taken at random (10000 unless told)',
  },
  exact: { about: 'look at all keys' },
  brief: { about: 'leave out encodings and idle times, which the server is asked for key by key' },
  top: { value: 'N', number: true, about: 'name so many of the biggest keys (10 unless told)' },
  histograms: { about: 'show times to live, sizes and idle times of every group' },
} as const

/** `keyspec stats` */
export const stats = command({
  operands: '[FILE]',
  options,
  examples: [
    ['keyspec stats', 'keys and memory by entry; of a large server, estimated'],
    ['keyspec stats --exact', 'the same, all keys counted'],
    ['keyspec stats --exact --brief', 'the same without encodings and idle times, which spares the server'],
    ['keyspec stats --by prefix --depth 2', 'a server without a declaration'],
    ['keyspec stats --entry session --histograms', 'what the sessions are like'],
    ['keyspec stats --under cache: --top 50', 'the biggest keys of a prefix'],
    ['keyspec stats --snapshot dump.rdb', 'the keys of a file; no server is asked'],
  ],
  json: { form: 'document', schema: statsJson },
  async run(call) {
    const { out, signal } = call
    const how = checked(call.options)
    const config = await call.config()
    return withKeys(call, config, 0, async ({ from, snapshot }) => {
      const counting = statsOf(config.schema, from, {
        ...selectionOf(call.options, config),
        ...how,
        signal,
        maxLoad: call.options['max-load'],
      })
      const found = await watch(call, counting)
      out.record(jsonOf(found, how.by, snapshot), () => textOf(found, how.by, snapshot, call))
      return exit.fine
    })
  },
})

function checked({ by = 'entry', depth, sample, exact, brief, top, snapshot }: Given<typeof options>) {
  if (by !== 'entry' && by !== 'prefix')
    throw misused(`--by takes entry or prefix, not ${JSON.stringify(by)}`)
  if (depth !== undefined && by !== 'prefix') throw misused('--depth needs --by prefix')
  if (sample !== undefined && exact === true) throw misused('--sample or --exact, not both')
  if (sample !== undefined && snapshot === true) throw misused('a snapshot is read whole: leave out --sample')
  if (brief === true && snapshot === true)
    throw misused('a snapshot tells encodings and idle times anyway: leave out --brief')
  if (top !== undefined && top > MOST_TOP) throw misused(`--top names at most ${MOST_TOP} keys`)
  for (const [option, value] of Object.entries({ depth, sample, top })) {
    const least = option === 'top' ? 0 : 1
    if (value !== undefined && !(Number.isInteger(value) && value >= least))
      throw misused(`--${option} takes a whole number, not ${value}`)
  }
  return { by, depth, sample, exact, brief, top } as const
}

const MOST_TOP = 1000

function jsonOf(
  { exact, looked, of, all, groups, biggest }: Stats,
  by: 'entry' | 'prefix',
  snapshot: SnapshotSource | undefined,
) {
  return {
    by,
    sizes: snapshot === undefined ? ('memory' as const) : ('serialized' as const),
    ...(snapshot === undefined ? {} : { snapshot: snapshotJson(snapshot) }),
    exact,
    looked,
    of,
    all: talliedJson(all),
    groups: groups.map((group) => ({ name: group.name, ...talliedJson(group) })),
    biggest: biggest.map(({ key, ...rest }) => ({ key: escapeKey(key), ...rest })),
  }
}

function talliedJson({ keys, bytes: memory, share, types, encodings, forever, ttl, sizes, idle }: KeyStats) {
  return {
    keys,
    bytes: memory,
    share,
    types,
    encodings,
    forever,
    ttl: ttl.map(belowMs),
    sizes: sizes.map(belowBytes),
    idle: idle.map(belowMs),
  }
}

function belowMs({ below, ...rest }: Bucket) {
  return below === undefined ? rest : { belowMs: below, ...rest }
}

function belowBytes({ below, ...rest }: Bucket) {
  return below === undefined ? rest : { belowBytes: below, ...rest }
}

function textOf(
  found: Stats,
  by: 'entry' | 'prefix',
  snapshot: SnapshotSource | undefined,
  { out: { paint }, options: given }: Call<typeof options>,
): string {
  const { exact, looked, of, all, groups, biggest } = found
  const nameOf = ({ name }: StatsGroup) =>
    name === undefined ? (by === 'entry' ? '(no entry)' : '(other prefixes)') : name || '(the empty key)'
  const told =
    snapshot !== undefined
      ? `${counted(all.keys.value, 'key')} of a snapshot (${snapshotText(snapshot)}): sizes are serialized sizes, not memory`
      : exact
        ? `${counted(all.keys.value, 'key')}, all looked at`
        : `${counted(looked, 'key')} of ${count(of)} looked at: each number is an estimate, with its 95 % interval behind it`
  const rows = [...groups, ...(groups.length > 1 ? [{ name: undefined, ...all }] : [])]
  const knowsEncodings = all.encodings.length > 0
  const parts = [
    told,
    table(
      [
        { head: by.toUpperCase() },
        { head: 'KEYS', right: true },
        { head: snapshot === undefined ? 'MEMORY' : 'SERIALIZED', right: true },
        { head: 'SHARE', right: true },
        { head: 'NO TTL', right: true },
        { head: 'TYPE' },
        ...(knowsEncodings ? [{ head: 'ENCODING' }] : []),
      ],
      rows.map((group, at) => [
        at === groups.length ? 'all' : nameOf(group),
        estimate(group.keys, count),
        estimate(group.bytes, bytes),
        percent(group.share),
        percent(group.forever.share),
        namesOf(group.types),
        ...(knowsEncodings ? [at === groups.length ? '' : namesOf(group.encodings)] : []),
      ]),
      paint,
    ),
  ]
  const detailed = given.histograms === true ? groups : []
  for (const [title, kind, unit] of [
    ['TIME TO LIVE', 'ttl', time],
    [snapshot === undefined ? 'SIZE' : 'SERIALIZED SIZE', 'sizes', bytes],
    ['IDLE', 'idle', time],
  ] as const) {
    const described = [...detailed.map((group) => [nameOf(group), group] as const), ['all', all] as const]
    parts.push(
      histogram(
        title,
        described.map(([name, group]) => [name, group[kind]]),
        unit,
        paint,
      ),
    )
  }
  if (snapshot !== undefined && all.idle.length === 0)
    parts.push(table([{ head: 'IDLE' }, { head: 'UNKNOWN' }], [['all', '-']], paint))
  if (biggest.length > 0) {
    parts.push(
      table(
        [
          { head: exact ? 'BIGGEST' : 'BIGGEST SEEN', right: true },
          { head: 'TYPE' },
          { head: 'ENTRY' },
          { head: 'KEY' },
        ],
        biggest.map(({ key, type, bytes: size, entry }) => [
          bytes(size),
          type,
          entry ?? '(no entry)',
          key.length > LONGEST_NAME
            ? `${escapeKey(key.subarray(0, LONGEST_NAME))}…`
            : escapeKey(key) || '(the empty key)',
        ]),
        paint,
      ),
    )
  }
  return parts.filter((part) => part !== '').join('\n\n')
}

const LONGEST_NAME = 100

function namesOf(shares: readonly NamedShare[]): string {
  const [only, ...others] = shares
  if (only === undefined) return ''
  return others.length === 0
    ? only.name
    : shares.map(({ name, share }) => `${name} ${percent(share)}`).join(', ')
}

/** The buckets in which any of the groups has keys. */
function histogram(
  title: string,
  groups: readonly (readonly [name: string, buckets: readonly Bucket[]])[],
  unit: (value: number) => string,
  paint: Paint,
): string {
  const bounds = groups.at(-1)![1].map(({ below }) => below)
  const filled = bounds
    .map((_, at) => at)
    .filter((at) => groups.some(([, buckets]) => (buckets[at]?.keys.value ?? 0) > 0))
  if (filled.length === 0) return ''
  const head = (at: number) => (bounds[at] === undefined ? 'more' : `<${unit(bounds[at])}`)
  return table(
    [{ head: title }, ...filled.map((at) => ({ head: head(at), right: true }))],
    groups.map(([name, buckets]) => [
      name,
      ...filled.map((at) => {
        const bucket = buckets[at]
        return bucket === undefined || bucket.keys.value === 0 ? '·' : percent(bucket.share)
      }),
    ]),
    paint,
  )
}

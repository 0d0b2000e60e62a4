import { describeLifetime } from 'keyspec'
import {
  type DecodedPart,
  escapeKey,
  explain as explainKey,
  type Explanation,
  unescapeKey,
} from '@keyspec/inspect/explain'
import { command } from '../command.ts'
import { exit, misused } from '../failure.ts'
import { serverOptions } from '../options.ts'
import { bytes, count, counted, time } from '../render/units.ts'
import { stored, value as valueText } from '../render/value.ts'
import type { Paint } from '../terminal/paint.ts'
import { explainJson } from './explain-json.ts'

/** `keyspec explain KEY` */
export const explain = command({
  operands: 'KEY',
  options: { ...serverOptions, 'no-value': { about: 'do not read the value' } },
  examples: [
    ['keyspec explain session:42', 'whose it is, what is there, whether it is as declared'],
    ['keyspec explain session:42 --no-value', 'the same, without the value'],
    ["keyspec explain 'a key\\x00\\xff'", 'a key of any bytes, escaped as the commands show it'],
  ],
  json: { form: 'document', schema: explainJson },
  async run({ operands: [text], options, out, config, connectBriefly }) {
    if (text === undefined) throw misused('keyspec explain takes a key')
    const { schema, prefix } = await config()
    const value = options['no-value'] !== true
    const told = await explainKey(schema, await connectBriefly(), unescapeKey(text), { prefix, value })
    out.record(jsonOf(told), () => textOf(told, out.paint))
    const isKnown = told.owned !== undefined || told.ownUse !== undefined
    return isKnown && told.faults.length === 0 ? exit.fine : exit.findings
  },
})

function jsonOf(told: Explanation): object {
  const { key, owned, becomes, external, ownUse, seen, value, faults, nearest, slot } = told
  const spec = owned?.spec
  return {
    key: escapeKey(key),
    exists: seen !== undefined,
    entry: owned?.entry,
    pattern: owned?.pattern.text,
    legacy: owned?.legacy,
    becomes,
    params: owned === undefined ? undefined : paramsOf(told),
    about: spec?.about,
    owner: spec?.owner,
    external: spec?.external === undefined ? undefined : { by: spec.external.by, about: external?.about },
    ownUse,
    type: seen?.type,
    declaredType: spec?.external === undefined ? spec?.type : external?.type,
    encoding: seen?.encoding,
    ttlMs: seen?.ttlMs,
    declaredTtlMs: spec?.external === undefined ? spec?.lifetime.ttlMs : undefined,
    bytes: seen?.bytes,
    budgetBytes: spec?.budgetBytes,
    idleMs: seen?.idleMs,
    slot,
    value:
      value === undefined
        ? undefined
        : {
            count: value.count,
            omitted: value.omitted,
            head: value.head === undefined ? undefined : stored(value.head),
            parts: value.parts.map((part) => ({
              field: part.field === undefined ? undefined : escapeKey(part.field),
              id: part.id,
              score: part.score,
              codec: part.codec,
              failed: part.failed,
              text: partText(part),
            })),
          },
    faults,
    nearest: nearest.map(({ owned: { entry, pattern }, reason }) => ({
      entry,
      pattern: pattern.text,
      reason,
    })),
  }
}

function paramsOf({ params }: Explanation): Record<string, string> {
  return Object.fromEntries(
    Object.entries(params).map(([name, param]) => [name, valueText(isDigest(param) ? param.digest : param)]),
  )
}

function isDigest(param: unknown): param is { readonly digest: string } {
  return typeof param === 'object' && param !== null && 'digest' in param && typeof param.digest === 'string'
}

function partText({ failed, codec, stored: raw, value }: DecodedPart): string {
  return failed || codec === undefined ? stored(raw) : valueText(value)
}

function textOf(told: Explanation, paint: Paint): string {
  const { key, owned, becomes, external, ownUse, seen, faults, nearest, slot } = told
  const lines: (readonly [head: string, text: string])[] = []
  const add = (head: string, text: string | undefined) => {
    if (text !== undefined && text !== '') lines.push([head, text])
  }
  if (ownUse !== undefined) add('kept by', `Keyspec itself: ${ownUse}`)
  else if (owned === undefined) add('entry', 'none: no pattern of the schema owns it')
  else {
    const { spec } = owned
    add('entry', owned.entry)
    add('pattern', `${owned.pattern.text}${owned.legacy ? ' (an old name)' : ''}`)
    if (owned.legacy) add('becomes', becomes ?? 'nothing: its values cannot stand in the new pattern')
    const params = Object.entries(paramsOf(told)).map(([name, param]) => `${name} = ${param}`)
    add('placeholders', params.join(', '))
    add('about', spec.about)
    add('owner', spec.owner)
    if (spec.external !== undefined)
      add('written by', `${spec.external.by}${external === undefined ? '' : `: ${external.about}`}`)
    else add('lifetime', describeLifetime(spec.lifetime))
  }
  if (seen === undefined) add('exists', 'no')
  else {
    const declared = owned?.spec.external === undefined ? owned?.spec.lifetime.ttlMs : undefined
    const budget = owned?.spec.budgetBytes
    add('type', `${seen.type}, kept as ${seen.encoding}`)
    add(
      'time to live',
      `${seen.ttlMs === 'forever' ? 'none' : time(seen.ttlMs!)}${typeof declared === 'number' ? `, declared ${time(declared)}` : ''}`,
    )
    add('memory', `${bytes(seen.bytes!)}${budget === undefined ? '' : ` of a budget of ${bytes(budget)}`}`)
    if (seen.idleMs !== undefined) add('idle', time(seen.idleMs))
  }
  if (slot !== undefined) add('slot', count(slot))
  const width = Math.max(...lines.map(([head]) => head.length))
  return [
    paint.bold(escapeKey(key) || '(the empty key)'),
    ...lines.map(([head, text]) => `  ${paint.dim(head.padEnd(width))}  ${text}`),
    ...valueLines(told, paint),
    ...faults.map(({ code, message }) => `  ${paint.red(code)}  ${message}`),
    ...nearest.map(
      ({ owned: { entry, pattern }, reason }) =>
        `  ${paint.yellow('near')}  ${pattern.text} (${entry}): ${reason}`,
    ),
  ].join('\n')
}

function valueLines({ value, seen }: Explanation, paint: Paint): string[] {
  if (value === undefined || seen === undefined) return []
  const isString = seen.type === 'string'
  const size = isString
    ? bytes(value.count)
    : counted(value.count, seen.type === 'hash' ? 'field' : 'element')
  const parts = value.parts.map((part) => {
    const head = [part.id, part.field === undefined ? undefined : escapeKey(part.field), part.score]
      .filter((piece) => piece !== undefined)
      .join('  ')
    return `    ${head === '' ? '' : `${paint.dim(head)}  `}${partText(part)}`
  })
  // The entries of a stream come in as many parts as they have fields.
  const read = seen.type === 'stream' ? new Set(value.parts.map(({ id }) => id)).size : value.parts.length
  const rest = isString ? 0 : value.count - read - value.omitted
  return [
    `  value, ${size}`,
    ...parts,
    ...(value.head === undefined ? [] : [`    ${stored(value.head)}…`]),
    ...(value.omitted > 0 && !isString
      ? [`    (${counted(value.omitted, 'element')} too large to be shown)`]
      : []),
    ...(rest > 0 ? [`    … and ${count(rest)} more`] : []),
  ]
}

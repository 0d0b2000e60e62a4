import { describeLifetime } from 'keyspec'
import type { Manifest, ManifestEntry, ManifestKey } from '../manifest/manifest.ts'
import { lifeCycle } from './life-cycle.ts'
import { cell, code, heading, rows } from './markdown.ts'
import { valueTable } from './value-table.ts'

/** How a page about a keyspace stands among others. */
export interface RenderDocsOptions {
  /** The heading of the page; none where it stands under one that is there. */
  readonly title?: string | undefined
  /** What is said first. */
  readonly intro?: string | undefined
  /** The level of the heading that it stands under: 1 unless told. */
  readonly level?: number | undefined
  /** How a reader looks at keys; without it, the page has no such lines. */
  readonly commands?: DocsCommands | undefined
}

/** Lines of a shell for a page. */
export interface DocsCommands {
  /** What is said of the lines that find keys. */
  readonly about: string
  /** Lines that show one key of a pattern. */
  read(key: ManifestKey): readonly string[]
  /** A line that finds the keys of a pattern; `prefix` stands before every key. */
  scan(key: ManifestKey, prefix: string): string
}

/** A keyspace as a page of Markdown: overview, every key in a table, a section an entry, life cycles, old names, commands. */
export function renderDocs(
  manifest: Manifest,
  { title, intro, level = 1, commands }: RenderDocsOptions = {},
): string {
  const { entries } = manifest
  const sections = [
    ...(title === undefined ? [] : [heading(level, title)]),
    ...(intro === undefined ? [] : [intro.trim()]),
    overview(manifest),
    tableOf(own(entries)),
    heading(level + 1, 'Entries'),
    ...own(entries).map((entry) => section(entry, level + 2, commands)),
    heading(level + 1, 'Life cycles'),
    ...lifeCycles(entries),
    ...oldNames(entries, level + 1),
    ...othersOf(entries, level + 1),
    ...quickReference(manifest, level + 1, commands),
  ]
  return `${sections.join('\n\n')}\n`
}

function quickReference(
  { entries, prefix }: Manifest,
  level: number,
  commands: DocsCommands | undefined,
): string[] {
  if (commands === undefined) return []
  return [
    heading(level, 'Quick reference'),
    commands.about,
    rows(
      ['keys of', 'found by'],
      own(entries).map(({ entry, keys: [key] }) => [entry, code(commands.scan(key!, prefix))]),
    ),
  ]
}

function overview({ prefix, entries }: Manifest): string {
  const keys = own(entries).flatMap(({ keys }) => keys)
  const expiring = keys.filter(({ lifetime }) => lifetime.ttlMs !== 'forever')
  const external = entries.filter((entry) => !own([entry]).length)
  const names = [...new Set(external.flatMap(({ keys }) => keys.map(({ external }) => external!.by)))]
  return [
    `${counted(own(entries).length, 'entry', 'entries')} with ${counted(keys.length, 'key pattern')}: ` +
      `${expiring.length} of the patterns expire by themselves, ${keys.length - expiring.length} live forever.`,
    ...(external.length === 0 ? [] : [`${belonging(external.length, names.length)}: ${names.join(', ')}.`]),
    prefix === '' ? 'Nothing stands before the keys.' : `${code(prefix)} stands before every key.`,
    '`<name>` is a placeholder without a colon, `<name*>` one that may hold colons.',
  ].join(' ')
}

function tableOf(entries: readonly ManifestEntry[]): string {
  return rows(
    ['key', 'type', 'entry', 'holds', 'lifetime'],
    entries.flatMap(({ entry, keys }) =>
      keys.map((key) => [
        code(key.pattern),
        key.type,
        entry,
        cell(key.about ?? ''),
        cell(describeLifetime(key.lifetime)),
      ]),
    ),
  )
}

function section({ entry, keys }: ManifestEntry, level: number, commands: DocsCommands | undefined): string {
  const [first, ...others] = keys as [ManifestKey, ...ManifestKey[]]
  const parts = [heading(level, entry), `${cell(first.about ?? 'Nothing is said about it')}.`, facts(first)]
  parts.push(...valueTable(first))
  if (others.length > 0) {
    parts.push('Its other keys:')
    parts.push(
      rows(
        ['key', 'type', 'value'],
        others.map((key) => [code(key.pattern), key.type, valueOf(key)]),
      ),
    )
  }
  if (commands !== undefined) parts.push(['```sh', ...commands.read(first), '```'].join('\n'))
  return parts.join('\n\n')
}

function facts(key: ManifestKey): string {
  const placeholders = Object.entries(key.params).filter(([, codec]) => codec !== 'text')
  return [
    `- key: ${code(key.pattern)}${key.example === key.pattern ? '' : `, as in ${code(key.example)}`}`,
    `- type: ${key.type}${valueOf(key) === '' ? '' : `, ${valueOf(key)}`}`,
    `- lifetime: ${cell(describeLifetime(key.lifetime))}${jitterOf(key)}`,
    ...(placeholders.length === 0
      ? []
      : [
          `- placeholders: ${placeholders.map(([name, codec]) => `${code(`<${name}>`)} ${codec}`).join(', ')}`,
        ]),
    ...(key.subject === undefined ? [] : [`- stands for a person: ${code(`<${key.subject}>`)}`]),
    ...(key.owner === undefined ? [] : [`- owner: ${key.owner}`]),
    ...(key.budgetBytes === undefined ? [] : [`- memory of one key: at most ${key.budgetBytes} bytes`]),
    ...(key.evictable === (key.lifetime.ttlMs !== 'forever')
      ? []
      : [`- eviction: ${key.evictable ? 'allowed' : 'not allowed'}`]),
    ...(key.fingerprint === undefined
      ? []
      : [`- version ${key.fingerprint.version}, of ${code(key.fingerprint.digest.slice(0, 16))}`]),
    ...(key.renamedFrom.length === 0
      ? []
      : [
          `- was: ${key.renamedFrom.map(code).join(', ')}${key.phase === undefined || key.phase === 2 ? '' : `, at phase ${key.phase}`}`,
        ]),
  ].join('\n')
}

function jitterOf({ lifetime }: ManifestKey): string {
  if (lifetime.ttlMs === 'forever' || lifetime.jitter === 0) return ''
  return `, up to ${Math.round(lifetime.jitter * 100)} % less, by chance`
}

function valueOf({ value, fields }: ManifestKey): string {
  if (fields !== undefined) return `${Object.keys(fields).length} fields`
  return value === undefined ? '' : code(value.codec)
}

/** One diagram for all that live alike. */
function lifeCycles(entries: readonly ManifestEntry[]): string[] {
  const alike = new Map<string, { key: ManifestKey; names: Set<string> }>()
  for (const { entry, keys } of own(entries)) {
    for (const key of keys) {
      const life = key.lifetime.ttlMs === 'forever' ? 'forever' : describeLifetime(key.lifetime)
      const group = alike.get(life) ?? { key, names: new Set() }
      group.names.add(entry)
      alike.set(life, group)
    }
  }
  return [...alike].map(
    ([life, { key, names }]) =>
      `**${life[0]!.toUpperCase()}${life.slice(1)}**: ${[...names].join(', ')}\n\n${lifeCycle(key.lifetime)}`,
  )
}

function othersOf(entries: readonly ManifestEntry[], level: number): string[] {
  const others = entries.flatMap(({ keys }) => keys.filter(({ external }) => external !== undefined))
  if (others.length === 0) return []
  return [
    heading(level, 'Keys of other programs'),
    'Declared so that the tools know them; nothing here writes them.',
    rows(
      ['key', 'type', 'program', 'holds'],
      others.map((key) => [code(key.pattern), key.type, key.external!.by, cell(key.about ?? '')]),
    ),
  ]
}

function oldNames(entries: readonly ManifestEntry[], level: number): string[] {
  const old = entries.flatMap(({ keys }) =>
    keys.flatMap(({ pattern, renamedFrom }) => renamedFrom.map((before) => [code(before), code(pattern)])),
  )
  if (old.length === 0) return []
  return [
    heading(level, 'Old names'),
    entries.every(({ keys }) => keys.every(({ phase }) => phase === undefined || phase === 2))
      ? 'They are read where only they exist, and the key is then moved to its name with the time it has left.'
      : 'The phase of a rename says what happens to a key at its old name. 1: it is read and written there. ' +
        '2: it is moved to its name with the time it has left. 3: no program uses it.',
    rows(['old name', 'name'], old),
  ]
}

function own(entries: readonly ManifestEntry[]): ManifestEntry[] {
  return entries.filter(({ keys }) => keys.some(({ external }) => external === undefined))
}

function belonging(entries: number, programs: number): string {
  const [more, belong] = entries === 1 ? ['1 entry more', 'belongs'] : [`${entries} entries more`, 'belong']
  return `${more} ${belong} to ${programs === 1 ? 'another program' : 'other programs'}`
}

function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`
}

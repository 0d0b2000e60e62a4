import { readFileSync, writeFileSync } from 'node:fs'
import { expect } from 'vitest'
import type { Measured, Row } from './measured.ts'

/**
 * What a fault leaves to chance, so that the table names both: `nothing`; where in a verb of several commands it falls
 * (`steps`); whether the server got a command in time (`times`); whether a client gives up a connection on which calls wait
 * (`connections`). `lost`: writes that were answered may be gone, and the cell says only whether they are.
 */
export type Open = 'nothing' | 'steps' | 'times' | 'connections' | 'lost'

/** A fault as a column of the table. */
export interface Column {
  readonly fault: string
  readonly open: Open
  readonly measured: readonly Measured[]
}

const PAGE = new URL('../docs/guarantees.md', import.meta.url)

/** What may never be measured, whatever the table says. */
export function falseAnswers({ measured, open }: Pick<Column, 'measured' | 'open'>): string[] {
  return measured.flatMap(({ row, client, times, answers, code }) => {
    const found = `${row.table}.${row.name} over ${client}: applied ${times} times, ${answers ?? code}`
    // Of a verb that takes several commands, some may be lost, and `getOrLoad` answers what was loaded all the same.
    const isPart = Number.isNaN(times) && row.verb.steps === true && !isTrueOfWrite(answers)
    if (times !== undefined && times !== 0 && times !== 1 && !isPart)
      return [`${found}; more than once, or in part`]
    if (isTrueOfWrite(answers) && times === 0 && open !== 'lost')
      return [`${found}; answered, but not applied`]
    const isKnown = code === 'E_NOT_SENT' || code === 'E_NOT_READY'
    if (isKnown && times === 1 && row.verb.steps !== true)
      return [`${found}; applied, but not sent, or refused`]
    return code === undefined || isKnown || code === 'E_UNKNOWN_OUTCOME' ? [] : [found]
  })
}

/** Whether it is the answer of a write that was applied. */
const isTrueOfWrite = (answers = '') => answers === 'answers' || answers.includes('replicas: ')

/**
 * Compares one part of docs/guarantees.md with what was measured. With `GUARANTEES=write` in the environment it writes that
 * part instead: `npm run guarantees`.
 */
export function expectGuaranteed(part: string, columns: readonly Column[]): void {
  for (const column of columns) expect(falseAnswers(column), column.fault).toEqual([])
  expectPart(part, tableOf(columns))
}

/** Compares one table of docs/guarantees.md, or writes it, as `expectGuaranteed` does. */
export function expectPart(part: string, table: string): void {
  const page = readFileSync(PAGE, 'utf8')
  const [opening, closing] = [
    `<!-- ${part}: written by \`npm run guarantees\` -->`,
    `<!-- end of ${part} -->`,
  ]
  const [from, to] = [page.indexOf(opening) + opening.length, page.indexOf(closing)]
  if (from < opening.length || to < from) throw new Error(`docs/guarantees.md has no part "${part}"`)
  if (process.env['GUARANTEES'] === 'write')
    writeFileSync(PAGE, `${page.slice(0, from)}\n\n${table}\n\n${page.slice(to)}`)
  else
    expect(
      lines(page.slice(from, to)),
      'docs/guarantees.md differs from what was measured: run `npm run guarantees` and read the diff',
    ).toEqual(lines(table))
}

/** A table in Markdown without what a formatter may change. */
const lines = (table: string) =>
  table
    .trim()
    .split('\n')
    .map((line) => line.replaceAll(/-{3,}/g, '---').replaceAll(/ +/g, ' '))

function tableOf(columns: readonly Column[]): string {
  return grouped(
    columns.map(({ fault }) => fault),
    [...new Set(columns[0]!.measured.map(({ row }) => row))].map((row) => [
      row,
      columns.map((column) => cellOf(column, row)),
    ]),
  )
}

/** A table in which verbs that do the same stand in one row. */
export function grouped(
  heads: readonly string[],
  found: readonly (readonly [row: Row, cells: readonly string[]])[],
): string {
  const groups = new Map<string, Row[]>()
  for (const [row, texts] of found) {
    const cells = texts.join(' | ')
    groups.set(cells, [...(groups.get(cells) ?? []), row])
  }
  return [
    `| verbs | ${heads.join(' | ')} |`,
    `| --- |${' --- |'.repeat(heads.length)}`,
    ...[...groups].map(([cells, group]) => `| ${namesOf(group)} | ${cells} |`),
  ].join('\n')
}

function namesOf(group: readonly Row[]): string {
  const tables = new Map<string, string[]>()
  for (const { table, name } of group) tables.set(table, [...(tables.get(table) ?? []), `\`${name}\``])
  return [...tables].map(([table, names]) => `**${table}** ${names.join(' ')}`).join('; ')
}

/** What was measured of a verb, said once where all clients agree. */
function cellOf(column: Column, row: Row): string {
  const texts = new Map<string, string[]>()
  for (const found of column.measured) {
    if (found.row !== row) continue
    const text = textOf(column, found)
    texts.set(text, [...(texts.get(text) ?? []), found.client])
  }
  if (texts.size === 1) return [...texts.keys()][0]!
  return [...texts].map(([text, clients]) => `${text} (${clients.join(', ')})`).join('; ')
}

function textOf({ open }: Column, { row, times, answers, code, left }: Measured): string {
  if (open === 'lost') return times === undefined ? '–' : `${times}`
  if (open === 'connections')
    return (
      row.verb.atFailover ??
      (times === undefined ? `answers, or ${UNKNOWN}` : `1, answers; or 0 or 1, ${UNKNOWN}`)
    )
  // Which of the two a client can tell depends on how much it had to write.
  const outcome = answers ?? (open === 'times' && code === 'E_NOT_SENT' ? UNKNOWN : `\`${code}\``)
  if (times === undefined) return outcome
  const isOpen =
    (open === 'times' || open === 'steps') &&
    !isTrueOfWrite(answers) &&
    (open !== 'steps' || row.verb.steps === true)
  return `${isOpen ? '0 or 1' : times}, ${outcome}${left === undefined ? '' : `; then ${left}`}`
}

const UNKNOWN = '`E_UNKNOWN_OUTCOME`'

import { readFileSync } from 'node:fs'
import { type Connection, NO_KEY, type Reply } from '../../packages/keyspec/src/connection/connection.ts'

/** The keys of a script by the names of its body. */
export type Keys = { readonly [name: string]: string | readonly string[] }

/** The arguments of a script by the names of its body. A list must be the last. */
export type Arguments = { readonly [name: string]: string | number | boolean | readonly string[] }

/** Returns the text of a script of layout 1, from the last version that had it. */
export function luaOf(path: string): string {
  return readFileSync(new URL(path, import.meta.url), 'utf8')
}

/** Runs a body over named keys and arguments with a plain EVAL, without the script runner of today. */
export function evaluate(connection: Connection, body: string, keys: Keys, args: Arguments): Promise<Reply> {
  const names: string[] = []
  const given: string[] = []
  const lines: string[] = []
  for (const [name, value] of Object.entries(keys)) {
    const from = names.length + 1
    names.push(...(typeof value === 'string' ? [value] : value))
    lines.push(`local ${name} = ${listOrOne('KEYS', value, from, names.length)}`)
  }
  for (const [name, value] of Object.entries(args)) {
    const from = given.length + 1
    given.push(...(typeof value === 'object' ? value : [textOf(value)]))
    const read = listOrOne('ARGV', typeof value === 'object' ? value : '', from, given.length)
    if (typeof value === 'number') lines.push(`local ${name} = tonumber(${read})`)
    else if (typeof value === 'boolean') lines.push(`local ${name} = ${read} == '1'`)
    else lines.push(`local ${name} = ${read}`)
  }
  const text = `${lines.join('\n')}\n${body}`
  return connection.send(['EVAL', text, String(names.length), ...names, ...given], NO_KEY)
}

function listOrOne(source: string, value: string | readonly string[], from: number, to: number): string {
  return typeof value === 'string' ? `${source}[${from}]` : `{unpack(${source}, ${from}, ${to})}`
}

function textOf(value: string | number | boolean): string {
  return typeof value === 'boolean' ? (value ? '1' : '0') : String(value)
}

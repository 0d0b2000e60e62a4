import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as luaparse from 'luaparse'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { scriptModules } from '../../../../test-support/script-modules.ts'
import { type Arguments, serverNow } from './argument.ts'
import { isProvenEverywhere, SPARABLE } from './proof.ts'
import type { ScriptOptions } from './script.ts'

interface Described {
  readonly name: string
  readonly lua: string
  readonly args: Arguments
  readonly commands: readonly string[]
  readonly given: { readonly [argument: string]: readonly string[] }
  readonly types: object | undefined
}

const described = vi.hoisted(() => [] as Described[])

// Every module that describes a script says so here while it loads.
vi.mock(import('./script.ts'), async (load) => {
  const original = await load()
  const script = (name: string, options: ScriptOptions<string, any, unknown>) => {
    const { lua, args, commands, given = {}, types } = options
    described.push({ name, lua, args, commands, given: given as Described['given'], types })
    return original.script(name, options)
  }
  return { ...original, script: script as typeof original.script }
})

const folder = join(import.meta.dirname, '..')

beforeAll(async () => {
  vi.resetModules()
  for (const path of scriptModules) await import(path)
}, 120_000)

afterAll(() => {
  vi.doUnmock('./script.ts')
  vi.resetModules()
})

test('docs/design/scripts.md names each command of a script that Redis 6.2 cannot prove, and no other', () => {
  const all = new Set(described.flatMap(({ commands }) => commands))
  const page = readFileSync(join(folder, '../../../docs/design/scripts.md'), 'utf8')
  const [, named] = /have no such form: ([A-Z, ]+)\./.exec(page) ?? []
  expect(named).toBe(
    [...all]
      .filter((command) => !isProvenEverywhere(command))
      .sort()
      .join(', '),
  )
})

test('each script declares the commands of its text, and no other', () => {
  expect(described.length).toBeGreaterThan(30)
  const faults = described.flatMap(({ name, lua, args, commands, types }) => {
    const found = commandsIn(lua)
    const missing = [...found.keys()].filter((command) => !commands.includes(command))
    const idle = commands.filter(
      (command) =>
        !found.has(command) &&
        !(command === 'TIME' && Object.values(args).includes(serverNow)) &&
        !(command === 'TYPE' && types !== undefined),
    )
    return [
      ...missing.map((command) => `${name} runs ${command}, and does not declare it`),
      ...idle.map((command) => `${name} declares ${command}, and does not run it`),
    ]
  })
  expect(faults).toEqual([])
})

test('a command that no proof asks for is run by pcall alone', () => {
  const faults = described.flatMap(({ name, lua }) =>
    [...commandsIn(lua)]
      .filter(([command, isCaught]) => SPARABLE.has(command) && !isCaught)
      .map(([command]) => `${name} runs ${command} by redis.call`),
  )
  expect(faults).toEqual([])
})

test('a command that an argument names is one of a list', () => {
  const faults = described.flatMap(({ name, lua, args, given }) =>
    Object.keys(args)
      .filter((argument) => new RegExp(`call\\(${argument}\\b|= \\{${argument},`).test(lua))
      .filter((argument) => given[argument] === undefined)
      .map((argument) => `${name} runs what ${argument} names, and does not say which`),
  )
  expect(faults).toEqual([])
  expect(described.some(({ given }) => Object.keys(given).length > 0)).toBe(true)
})

describe('the reader of a text finds', () => {
  test.each<[string, string, string[]]>([
    ['calls and caught calls', "redis.call('GET', key) redis.pcall('DEL', key)", ['DEL', 'GET']],
    ['a call under another name', "local call = redis.call call('TIME')", ['TIME']],
    ['a subcommand', "redis.call('XGROUP', 'CREATE', key)", ['XGROUP CREATE']],
    ['a command in a table', "local step = {'SCAN', '0'} redis.call(unpack(step))", ['SCAN']],
    ['a command in a local', "local command = 'SADD' redis.call(command, key)", ['SADD']],
    [
      'a function that is called',
      "local function a() redis.call('GET') end local function b() a() end b()",
      ['GET'],
    ],
    ['but none that is not', "local function a() redis.call('GET') end return 1", []],
    ['and no other text', "return string.find('x', 'BUSY') or redis.error_reply('ERR no')", []],
  ])('%s', (_what, lua, expected) => {
    expect([...commandsIn(lua).keys()].sort()).toEqual(expected)
  })
})

const COMMAND = /^[A-Z]{2,}$/
const CONTAINERS: ReadonlySet<string> = new Set(['MEMORY', 'OBJECT', 'XGROUP', 'XINFO'])

type Node = { readonly type: string } & { readonly [property: string]: any }

/** The commands that a text can run, in functions that it calls, and whether each is run by pcall alone. */
function commandsIn(lua: string): Map<string, boolean> {
  const functions = new Map<string, Node>()
  const found = new Map<string, boolean>()
  const called = new Set<string>()
  const chunk = luaparse.parse(lua, { luaVersion: '5.1' }) as unknown as Node

  function note(first: Node | undefined, second: Node | undefined, isCaught: boolean): void {
    const name = textOf(first)
    if (name === undefined || !COMMAND.test(name)) return
    const command = CONTAINERS.has(name) ? `${name} ${textOf(second) ?? ''}` : name
    found.set(command, isCaught && found.get(command) !== false)
  }

  function visit(node: unknown): void {
    if (Array.isArray(node)) return node.forEach(visit)
    if (typeof node !== 'object' || node === null) return
    const at = node as Node
    if (at.type === 'FunctionDeclaration' && at['isLocal'] && at['identifier'] !== null) {
      functions.set(at['identifier'].name, at)
      return
    }
    if (at.type === 'CallExpression') {
      const base = at['base'] as Node
      const callee = (base.type === 'MemberExpression' ? base['identifier'].name : base['name']) as string
      const [first, second] = at['arguments'] as Node[]
      if (callee !== 'error_reply') note(first, second, callee === 'pcall')
      enter(callee)
    }
    if (at.type === 'Identifier') enter(at['name'])
    if (at.type === 'TableConstructorExpression') {
      const [first, second] = at['fields'] as Node[]
      if (first?.type === 'TableValue') note(first['value'], second?.['value'], false)
    }
    if (at.type === 'LocalStatement') for (const value of at['init'] as Node[]) note(value, undefined, false)
    for (const [property, value] of Object.entries(at)) if (property !== 'type') visit(value)
  }

  function enter(name: string): void {
    const body = functions.get(name)
    if (body === undefined || called.has(name)) return
    called.add(name)
    visit(body['body'])
  }

  visit(chunk['body'])
  return found
}

function textOf(node: Node | undefined): string | undefined {
  return node?.type === 'StringLiteral' ? /^['"](.*)['"]$/.exec(node['raw'] as string)?.[1] : undefined
}

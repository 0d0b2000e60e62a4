import { readFileSync } from 'node:fs'
import * as luaparse from 'luaparse'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { luaFiles, scriptModules } from '../../../../test-support/script-modules.ts'
import { int, rest } from './argument.ts'
import { integerReply } from '../connection/reply.ts'
import type { ScriptOptions } from './script.ts'

interface Described {
  readonly name: string
  readonly source: string
  readonly lua: string
}

const described = vi.hoisted(() => [] as Described[])

// Every module that describes a script says so here while it loads.
vi.mock(import('./script.ts'), async (load) => {
  const original = await load()
  const script = (name: string, options: ScriptOptions<string, any, unknown>) => {
    const made = original.script(name, options)
    described.push({ name, source: made.source, lua: options.lua })
    return made
  }
  return { ...original, script: script as typeof original.script }
})

beforeAll(async () => {
  // Another file of this worker may have loaded them before.
  vi.resetModules()
  for (const path of scriptModules) await import(path)
}, 120_000)

afterAll(() => {
  vi.doUnmock('./script.ts')
  vi.resetModules()
})

test('every .lua file is run by a script', () => {
  const run = described.map(({ lua }) => lua)
  const idle = luaFiles.filter((file) => !run.some((lua) => lines(file).every((line) => lua.includes(line))))
  expect(luaFiles.length).toBeGreaterThan(3)
  expect(idle).toEqual([])
})

test('every script’s names are declared or Redis’s own, none is a global of its own, and no number is handed to a command', () => {
  expect(described.flatMap(faultsOf)).toEqual([])
})

describe('a seeded mistake is found', () => {
  const told: readonly [string, string, string][] = [
    ['a name that nobody declared', 'return amout', 'amout is neither declared nor built in (line 1)'],
    ['a function that Redis lacks', 'return 1,\nos.time()', 'os is neither declared nor built in (line 2)'],
    ['a global', 'total = 1', 'total is assigned as a global (line 1)'],
    ['a global function', 'function help() end', 'help is assigned as a global (line 1)'],
    ['a number for a key', 'return KEYS[1]', 'KEYS is spelled out: use its name (line 1)'],
    ['a number for an argument', 'return ARGV[1]', 'ARGV is spelled out: use its name (line 1)'],
    [
      'a number for a command',
      "return redis.call('LTRIM', key, 0, '9')",
      "LTRIM is handed 0: write '0' (line 1)",
    ],
    [
      'one below zero',
      "return\nredis.call('LTRIM', key, '0', -1)",
      "LTRIM is handed -1: write '-1' (line 2)",
    ],
    ['a Lua of another age', 'goto done ::done::', "'=' expected near 'done'"],
  ]
  test.each(told)('%s', async (_what, lua, fault) => {
    const { script } = await import('./script.ts')
    const args = { amount: int, values: rest }
    const { source } = script('test/seeded', {
      keys: ['key', 'old*'],
      args,
      lua,
      commands: [],
      reply: integerReply,
    })
    const faults = faultsOf({ name: 'seeded', source, lua })
    expect(
      faults.some((found) => found.includes(fault)),
      faults.join(),
    ).toBe(true)
  })

  test('and what is well is not', async () => {
    const { script } = await import('./script.ts')
    const lua = `local n = tonumber(amount) or #values
for i, before in ipairs(old) do n = n + redis.call('DEL', before, key) * i end
amount = n return amount`
    const args = { amount: int, values: rest }
    const { source } = script('test/well', {
      keys: ['key', 'old*'],
      args,
      lua,
      commands: [],
      reply: integerReply,
    })
    expect(faultsOf({ name: 'well', source, lua })).toEqual([])
  })
})

const BUILT_IN: ReadonlySet<string> = new Set(
  (
    'redis cjson cmsgpack struct bit math string table tonumber ' +
    'tostring ipairs pairs type unpack pcall error next select assert'
  ).split(' '),
)

// A name that some servers lack may be asked for where its absence does no harm.
const GUARDED = 'pcall(function() return os.clock end)'

/** The statements of a file, line by line: a script may be made of several files, and of one joined to one line. */
function lines(file: string): string[] {
  return readFileSync(file, 'utf8')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('--'))
}

/** What is wrong with a script, each with the line of its file. */
function faultsOf({ name, source: whole, lua }: Described): string[] {
  const source = whole.replaceAll(GUARDED, 'pcall(type)')
  try {
    return [
      ...globalsOf(lua)
        .filter((node) => node.name === 'KEYS' || node.name === 'ARGV')
        .map((node) => `${name}: ${node.name} is spelled out: use its name (line ${lineOf(node)})`),
      ...globalsOf(source)
        .filter((node) => !BUILT_IN.has(node.name) && node.name !== 'KEYS' && node.name !== 'ARGV')
        .filter((node) => !assigned(source).has(node.name))
        .map((node) => `${name}: ${node.name} is neither declared nor built in (line ${lineOf(node)})`),
      ...numbersIn(lua).map((fault) => `${name}: ${fault}`),
      ...[...assigned(source)].map(
        ([global, line]) => `${name}: ${global} is assigned as a global (line ${line})`,
      ),
    ]
  } catch (error) {
    return [`${name}: ${(error as Error).message}`]
  }
}

interface Named {
  readonly name: string
  readonly isLocal?: boolean
  readonly loc?: { readonly start: { readonly line: number } }
}

const OPTIONS = { luaVersion: '5.1', scope: true, locations: true } as const

/** The names that no `local` introduces, once each. */
function globalsOf(source: string): Named[] {
  return (luaparse.parse(source, OPTIONS) as unknown as { globals: Named[] }).globals
}

/** The globals that are assigned, and where. */
function assigned(source: string): Map<string, number> {
  const found = new Map<string, number>()
  luaparse.parse(source, {
    ...OPTIONS,
    onCreateNode(node) {
      const targets =
        node.type === 'AssignmentStatement'
          ? node.variables
          : node.type === 'FunctionDeclaration' && !node.isLocal && node.identifier !== null
            ? [node.identifier]
            : []
      for (const target of targets as readonly (Named & { type: string })[]) {
        if (target.type === 'Identifier' && target.isLocal !== true) found.set(target.name, lineOf(target))
      }
    },
  })
  return found
}

/** Numbers that are handed to a command: Lua writes each anew, which takes it as long as many a command. */
function numbersIn(lua: string): string[] {
  const found: string[] = []
  luaparse.parse(lua, {
    ...OPTIONS,
    onCreateNode(node) {
      if (node.type !== 'CallExpression' || node.arguments[0]?.type !== 'StringLiteral') return
      const [, command] = /^'([A-Z]+)'$/.exec(node.arguments[0].raw) ?? []
      if (command === undefined) return
      for (const given of node.arguments) {
        const isNegative = given.type === 'UnaryExpression' && given.operator === '-'
        const number = isNegative ? given.argument : given
        if (number.type !== 'NumericLiteral') continue
        const text = `${isNegative ? '-' : ''}${number.raw}`
        found.push(`${command} is handed ${text}: write '${text}' (line ${lineOf(given as object as Named)})`)
      }
    },
  })
  return found
}

function lineOf(node: Named): number {
  return node.loc?.start.line ?? 0
}

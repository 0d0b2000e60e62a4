import { afterEach, expect, test, vi } from 'vitest'
import { commandLine } from './command-line.ts'

afterEach(() => {
  vi.restoreAllMocks()
  vi.unstubAllGlobals()
})

/** What a program with these words on its command line reads, or how it ends. */
function read(...words: string[]) {
  vi.stubGlobal('process', { ...process, argv: ['node', 'main.js', ...words], exit: ended })
  const said: string[] = []
  for (const stream of ['log', 'error'] as const) {
    vi.spyOn(console, stream).mockImplementation((line: string) => said.push(`${stream}: ${line}`))
  }
  try {
    const options = { once: { type: 'boolean' }, clients: { type: 'string' } } as const
    const { values, count } = commandLine('how it is used', options)
    return { ...values, clients: count('clients', 1, 3) }
  } catch (error) {
    if (!(error instanceof Ended)) throw error
    return { exitCode: error.exitCode, said }
  }
}

class Ended extends Error {
  readonly exitCode: number

  constructor(exitCode: number) {
    super(`ended with ${exitCode}`)
    this.exitCode = exitCode
  }
}

function ended(code = 0): never {
  throw new Ended(code)
}

test('what is told is read, and what is not is as it is by itself', () => {
  expect(read('--once')).toEqual({ once: true, clients: 3 })
  expect(read('--clients=7')).toEqual({ clients: 7 })
})

test('--help prints the usage', () => {
  expect(read('--help')).toEqual({ exitCode: 0, said: ['log: how it is used'] })
})

test.each([
  [['--onec'], "Unknown option '--onec'; --help says what there is"],
  [['movies'], "Unexpected argument 'movies'; --help says what there is"],
  [['--once=yes'], "Option '--once' does not take an argument; --help says what there is"],
  [['--clients'], "Option '--clients <value>' argument missing; --help says what there is"],
  [['--clients', '-3'], "Option '--clients' argument is ambiguous; --help says what there is"],
  [['--clients', ''], '--clients is ""; it must be a whole number from 1'],
  [['--clients', '0'], '--clients is "0"; it must be a whole number from 1'],
  [['--clients', '1.5'], '--clients is "1.5"; it must be a whole number from 1'],
])('%j is answered with one line and exit code 2', (words, line) => {
  expect(read(...words)).toEqual({ exitCode: 2, said: [`error: ${line}`] })
})

import { spawnSync } from 'node:child_process'
import { expect, test } from 'vitest'

// It ends its process, so each is asked in a process of its own.
function read(...words: string[]) {
  const module = new URL('../dist/command-line.js', import.meta.url).href
  const source = `
    import { commandLine } from '${module}'
    const options = { once: { type: 'boolean' }, clients: { type: 'string' } }
    const { values, count } = commandLine('how it is used', options)
    console.log(JSON.stringify({ ...values, clients: count('clients', 1, 3) }))`
  const argv = ['--input-type=module', '-e', source, '--', ...words]
  const { status, stdout, stderr } = spawnSync(process.execPath, argv, { encoding: 'utf8' })
  return { status, stdout, stderr }
}

test('what is told is read, and what is not is as it is by itself', () => {
  expect(read('--once')).toEqual({ status: 0, stdout: '{"once":true,"clients":3}\n', stderr: '' })
  expect(read('--clients=7').stdout).toBe('{"clients":7}\n')
})

test('--help prints the usage', () => {
  expect(read('--help')).toEqual({ status: 0, stdout: 'how it is used\n', stderr: '' })
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
  expect(read(...words)).toEqual({ status: 2, stdout: '', stderr: `${line}\n` })
})

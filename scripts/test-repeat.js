// @ts-check
// npm run test:repeat: the whole suite ten times, since a test that fails sometimes has found something. `-- --times 3` says
// how often; `--busy` keeps every core occupied meanwhile. What stands behind a second `--` goes to vitest.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { parseArgs } from 'node:util'
import { root, run, Stop } from './setup.js'

await run(async () => {
  const { times, busy, rest } = read()
  const spinners = busy ? Array.from({ length: availableParallelism() }, spin) : []
  try {
    let failedRuns = 0
    for (let time = 1; time <= times; time += 1) {
      const { code, last, failures } = await suite(rest)
      if (code !== 0) failedRuns += 1
      console.log(`${time} of ${times}: ${last}`)
      for (const failure of failures) console.log(`  ${failure}`)
    }
    console.log(`${times - failedRuns} runs passed, ${failedRuns} failed`)
    process.exitCode = failedRuns > 0 ? 1 : 0
  } finally {
    for (const spinner of spinners) spinner.kill()
  }
})

function read() {
  const words = process.argv.slice(2)
  const end = words.indexOf('--')
  const [own, rest] = end < 0 ? [words, []] : [words.slice(0, end), words.slice(end + 1)]
  const { values } = parseArgs({
    args: own,
    options: { times: { type: 'string', default: '10' }, busy: { type: 'boolean', default: false } },
  })
  if (!/^[1-9]\d{0,3}$/.test(values.times)) throw new Stop('--times takes a whole number from 1 to 9999.')
  return { times: Number(values.times), busy: values.busy, rest }
}

/** @param {string[]} words */
async function suite(words) {
  const child = spawn(process.execPath, [join(root, 'scripts/test.js'), ...words], {
    cwd: root,
    env: { ...process.env, NO_COLOR: '1' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const exit = once(child, 'exit')
  let last = ''
  /** @type {Set<string>} */
  const failures = new Set()
  for await (const line of createInterface({ input: child.stdout })) {
    if (/^\d+ passed, \d+ failed/.test(line)) last = line
    if (/^ FAIL {2}/.test(line)) failures.add(line.trim())
  }
  const [code] = await exit
  return { code, last, failures }
}

function spin() {
  return spawn(process.execPath, ['-e', 'for (;;) Math.random()'], { stdio: 'ignore' })
}

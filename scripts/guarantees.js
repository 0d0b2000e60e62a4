// @ts-check
// Measures what every verb does under every fault, and writes the tables of docs/guarantees.md.
import { spawnSync } from 'node:child_process'
import { root, run, Stop } from './setup.js'

await run(() => {
  // One file after another, since all write the same page.
  const projects = ['--project', 'quick', '--project', 'slow', '--no-file-parallelism']
  const vitest = ['vitest', 'run', ...projects, 'src/guarantees']
  const { status } = spawnSync('npx', vitest, {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, GUARANTEES: 'write' },
  })
  if (status !== 0) throw new Stop('Not all tables were written: the tests above say why.')
  console.log('Read the difference with `git diff docs/guarantees.md` before you commit it.')
})

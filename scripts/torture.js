// @ts-check
// npm run torture: sets up, builds the harness, and runs it with what stands behind `--`:
// `npm run torture -- --minutes 10 --seed 7`. See torture/README.md.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { bundleTorture } from '../torture/build.js'
import { root, run, setup } from './setup.js'

await run(async () => {
  await setup()
  await bundleTorture()
  const child = spawn(process.execPath, [join(root, 'torture/dist/main.js'), ...process.argv.slice(2)], {
    stdio: 'inherit',
  })
  // Ctrl-C reaches the harness by itself, as it shares our terminal; it ends what it has started.
  process.on('SIGINT', () => {})
  process.on('SIGTERM', () => child.kill('SIGTERM'))
  const [code] = await once(child, 'exit')
  process.exitCode = code ?? 1
})

// @ts-check
// npm start: sets up, then becomes the main job. It runs in this same process, so its exit code, its signals and
// its terminal are its own.
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { root, run, setup } from './setup.js'

const job = join(root, 'systems/mirrulations/dist/main.js')

await run(async () => {
  setup()
  process.argv[1] = job
  await import(pathToFileURL(job).href)
})

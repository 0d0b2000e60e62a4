// @ts-check
// npm run servers: runs the tests on other servers, one after another, and keeps the results in docs/servers.json.
//   npm run servers -- /opt/redis-6.2/redis-server [/opt/valkey-8/valkey-server ...]
//   --project NAME   this project only (quick, clock or slow; may be repeated)
//   --in FOLDER      tests of this folder only (may be repeated)
//   --source TEXT    what the server was built from, for the page (one server only)
//   --try            keeps no result
//   --page           runs nothing, and writes docs/servers.md from docs/servers.json
// Exit code 1 if a test fails. A result is kept only of committed code.
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { readRecords, withRun, writeRecords } from './servers/record.js'
import { onPath, serverAt } from './servers/server.js'
import { tallyOf } from './servers/tally.js'
import { root, run, setup, Stop } from './setup.js'

/** @typedef {import('./servers/server.js').Server} Server */

const PROJECTS = ['quick', 'clock', 'slow']

await run(async () => {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      project: { type: 'string', multiple: true, default: PROJECTS },
      in: { type: 'string', multiple: true, default: [] },
      source: { type: 'string' },
      try: { type: 'boolean', default: false },
      page: { type: 'boolean', default: false },
    },
  })
  if (values.page) return writeRecords(readRecords())
  if (positionals.length === 0) throw new Stop('Name a server: npm run servers -- /path/to/redis-server')
  const unknown = values.project.find((name) => !PROJECTS.includes(name))
  if (unknown !== undefined)
    throw new Stop(`There is no project ${unknown}: it is one of ${PROJECTS.join(', ')}.`)
  if (values.source !== undefined && positionals.length > 1)
    throw new Stop('--source is about one server: name one at a time.')
  const servers = positionals.map(serverAt)
  if (!values.try && !isCommitted())
    throw new Stop('Files differ from the commit that the result would name: commit them, or pass --try.')

  await setup({ forTests: true })
  for (const server of servers) {
    for (const project of values.project) {
      const commit = git('rev-parse', '--short', 'HEAD')
      const { passed, failures, skips } = await tested(server, project, values.in)
      console.log(
        `${server.name} ${server.version}, ${project}: ${passed} passed, ${failures.length} failed, ${skips.length} skipped`,
      )
      if (failures.length > 0 || passed === 0) process.exitCode = 1
      if (values.try) continue
      if (!isCommitted() || git('rev-parse', '--short', 'HEAD') !== commit)
        throw new Stop('Files changed during the run, so its result is not kept.')
      const date = new Date().toISOString().slice(0, 10)
      const result = { project, of: values.in, date, commit, passed, failures, skips }
      writeRecords(withRun(readRecords(), server, values.source, result))
    }
  }
})

/**
 * Runs one project with this server first on the PATH.
 * @param {Server} server
 * @param {string} project
 * @param {readonly string[]} folders
 */
async function tested(server, project, folders) {
  const folder = mkdtempSync(join(tmpdir(), 'keyspec-servers-'))
  try {
    const report = join(folder, 'report.json')
    const cli = join(root, 'node_modules/vitest/vitest.mjs')
    const options = ['--project', project, '--reporter=dot', '--reporter=json', `--outputFile.json=${report}`]
    const child = spawn(process.execPath, [cli, 'run', ...options, ...folders], {
      cwd: root,
      stdio: 'inherit',
      env: { ...process.env, PATH: onPath(server, join(folder, 'bin')) },
    })
    // Ctrl-C reaches vitest by itself, as it shares our terminal; it must not keep us from cleaning up after it.
    process.once('SIGTERM', () => child.kill('SIGTERM'))
    const [code] = await once(child, 'exit')
    return tallyOf(report, code ?? 1)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** Whether the clone is as its commit says, but for the results themselves. */
function isCommitted() {
  return git('status', '--porcelain', '--', '.', ':!docs/servers.json', ':!docs/servers.md') === ''
}

/** @param {string[]} words */
function git(...words) {
  const { status, stdout } = spawnSync('git', words, { cwd: root, encoding: 'utf8' })
  if (status !== 0) throw new Stop(`git ${words.join(' ')} failed.`)
  return stdout.trim()
}

// @ts-check

/** @typedef {import('./record.js').Recorded} Recorded */
/** @typedef {import('./record.js').Run} Run */

/**
 * The page docs/servers.md.
 * @param {readonly Recorded[]} records
 */
export function pageOf(records) {
  return `<!-- Written by \`npm run servers\` from servers.json. -->

# Servers

Keyspec supports Redis 6.2 and later, and Valkey 7.2 and later.

Every change is tested on the server that the machine has (\`npm test\`, \`.ci/run\`). The tests also run on the servers below,
each built from its published source. These runs are made by hand, so each row names the commit that it is about. A version
that has no row was not run.

| server | built from | project | tests of | passed | failed | skipped | date | commit |
| --- | --- | --- | --- | --- | --- | --- | --- | --- |
${records.flatMap(rowsOf).join('\n')}

The project \`quick\` has most tests, \`clock\` those that replace the clock of their process, and \`slow\` those that start
clusters and Sentinels or kill processes.

## What was skipped

${listOf(records, 'skips', 'No test was skipped.')}

## What failed

${listOf(records, 'failures', 'No test failed.')}

## Run them

\`\`\`sh
npm run servers -- /path/to/redis-server
\`\`\`

This puts the server first on the PATH, under the names \`redis-server\` and \`valkey-server\`, and runs the three projects. It
keeps the result in \`docs/servers.json\` and writes this page. \`--project quick\` runs one project, \`--in packages\` the tests
of one folder, and \`--try\` keeps no result. \`--source\` says what the server was built from, such as a tag.

A server is built from a tag of [Redis](https://github.com/redis/redis) or [Valkey](https://github.com/valkey-io/valkey):

\`\`\`sh
make MALLOC=libc BUILD_TLS=no && ls src/*-server
\`\`\`
`
}

const PROJECTS = ['quick', 'clock', 'slow']

/** @param {Recorded} record */
function rowsOf({ server, version, source, runs }) {
  return PROJECTS.map((project) => {
    const run = runs.find((each) => each.project === project)
    const cells =
      run === undefined
        ? ['', 'not run', '', '', '', '']
        : [
            run.of.length === 0 ? 'all folders' : run.of.map((folder) => `\`${folder}\``).join(', '),
            String(run.passed),
            String(run.failures.length),
            String(run.skips.length),
            run.date,
            run.commit,
          ]
    return `| ${[`${server} ${version}`, source, project, ...cells].join(' | ')} |`
  })
}

/**
 * @param {readonly Recorded[]} records
 * @param {'skips' | 'failures'} what
 * @param {string} none
 */
function listOf(records, what, none) {
  const lines = records.flatMap(({ server, version, runs }) =>
    runs.flatMap((run) =>
      run[what].map((name) => `- ${server} ${version}: \`${name.replaceAll('`', "'")}\``),
    ),
  )
  return lines.length === 0 ? none : lines.join('\n')
}

// @ts-check
// npm run mutation: changes the code in one small place after another, and finds the changes that no test notices.
//   --files GLOB   these files of packages/ only (may be repeated)   --since REF   only lines that changed since this commit
//   --most N       a random sample of about N mutants                --seed S      another sample
//   --seconds N    begin no mutant after that long                   --short       what .ci/run does
// Exit code 1 below the floor. How it is judged: docs/design/mutation.md
import { dirname } from 'node:path'
import { parseArgs } from 'node:util'
import { equivalents, FLOOR, isBelow, judged, sampleOf, stale } from './mutation/judge.js'
import { luaMutants, tryLua } from './mutation/lua.js'
import { changed, isCommit, sources } from './mutation/source.js'
import { tryTypescript, typescriptMutants } from './mutation/typescript.js'
import { run, Stop } from './setup.js'

/** @typedef {import('./mutation/mutant.js').Mutant} Mutant */
/** @typedef {import('./mutation/mutant.js').Outcome} Outcome */

await run(async () => {
  const { values } = parseArgs({
    options: {
      files: { type: 'string', multiple: true, default: [] },
      since: { type: 'string' },
      most: { type: 'string' },
      seed: { type: 'string', default: '1' },
      seconds: { type: 'string' },
      short: { type: 'boolean', default: false },
    },
  })
  const { short } = values
  const since = values.since ?? (short ? 'HEAD~1' : undefined)
  const most = number(values.most) ?? (short ? 40 : undefined)
  const seconds = number(values.seconds) ?? (short ? 60 : undefined)

  const old = await staleEntries()
  for (const { file, at, reason } of old) {
    console.log(`STALE ${file}: no mutant of \`${at}\` is the one that equivalents.json lists (${reason})`)
  }

  if (since !== undefined && !isCommit(since)) {
    if (!short) throw new Stop(`${since} is no commit of this clone.`)
    return finish([], old.length, `This clone has no ${since} to compare with, so no mutants are tried.`)
  }
  let mutants = await mutantsIn(values.files, since)
  if (mutants.length === 0) return finish([], old.length, `No line with a mutant has changed since ${since}.`)
  const all = mutants.length
  if (most !== undefined && all > most) mutants = sampleOf(mutants, { most, seed: number(values.seed) ?? 1 })
  console.log(
    `${all} mutants, ${mutants.length} of them to try${mutants.length < all ? `, seed ${values.seed}` : ''}`,
  )

  const started = Date.now()
  const until = seconds === undefined ? Infinity : started + seconds * 1000
  /** @type {Outcome[]} */
  const outcomes = []
  const tell = (/** @type {Outcome} */ outcome) => {
    outcomes.push(outcome)
    if (outcome.killedBy === undefined) console.log(survivor(outcome.mutant))
    else if (outcomes.length % 50 === 0) console.log(`… ${outcomes.length} of ${mutants.length}`)
  }
  const [lua, typescript] = [mutants.filter(isLua), mutants.filter((mutant) => !isLua(mutant))]
  // Half of the time for each, if there are both; the second gets what the first leaves.
  const half = lua.length > 0 && typescript.length > 0 ? started + (until - started) / 2 : until
  await tryLua(lua, { until: half, tell })
  await tryTypescript(typescript, { until, tell })
  if (outcomes.length < mutants.length && seconds === undefined) {
    throw new Stop(`Only ${outcomes.length} of ${mutants.length} mutants have a result.`)
  }
  console.log(`took ${Math.round((Date.now() - started) / 1000)} s`)
  finish(outcomes, old.length, undefined, outcomes.length < all)
})

/**
 * @param {readonly string[]} globs
 * @param {string | undefined} since
 */
async function mutantsIn(globs, since) {
  const all = sources(globs)
  const wanted = since === undefined ? all : changed(all, since)
  const made = judged(await mutantsOf(wanted.map(({ file }) => file)))
  const lines = new Map(wanted.map((source) => [source.file, source.lines]))
  return made.filter(({ file, line, lastLine }) => {
    const changedLines = lines.get(file)
    return changedLines?.some(({ first, last }) => line >= first && lastLine <= last) ?? true
  })
}

/** @param {readonly string[]} files */
async function mutantsOf(files) {
  const lua = files.filter((file) => file.endsWith('.lua'))
  const typescript = files.filter((file) => !file.endsWith('.lua'))
  return [...lua.flatMap(luaMutants), ...(typescript.length > 0 ? await typescriptMutants(typescript) : [])]
}

async function staleEntries() {
  const named = new Set(equivalents.map(({ file }) => file))
  const there = new Set(sources([]).map(({ file }) => file))
  return stale(await mutantsOf([...named].filter((file) => there.has(file))))
}

/** @param {Mutant} mutant */
function isLua({ file }) {
  return file.endsWith('.lua')
}

/** @param {Mutant} mutant */
function survivor({ file, line, original, replacement }) {
  const signed = (/** @type {string} */ text, /** @type {string} */ sign) =>
    text.split('\n').map((each) => `  ${sign} ${each}`)
  return [`SURVIVED ${file}:${line}`, ...signed(original, '-'), ...signed(replacement, '+')].join('\n')
}

/**
 * @param {readonly Outcome[]} outcomes
 * @param {number} wrong
 * @param {string} [why] nothing was tried
 * @param {boolean} [sample]
 */
function finish(outcomes, wrong, why, sample = false) {
  if (why !== undefined) console.log(why)
  /** @type {Map<string, { killed: number, tried: number }>} */
  const folders = new Map()
  for (const { mutant, killedBy } of outcomes) {
    const folder = `${dirname(mutant.file)} ${isLua(mutant) ? 'Lua' : 'TypeScript'}`
    const sum = folders.get(folder) ?? { killed: 0, tried: 0 }
    folders.set(folder, { killed: sum.killed + (killedBy === undefined ? 0 : 1), tried: sum.tried + 1 })
  }
  for (const [folder, { killed, tried }] of [...folders].sort()) {
    console.log(`${percent(killed / tried)} ${folder}: ${killed} of ${tried}`)
  }
  const tried = outcomes.length
  const killed = outcomes.filter(({ killedBy }) => killedBy !== undefined).length
  const below = isBelow(killed, tried, { sample })
  if (tried > 0) {
    const verdict = below ? 'below' : killed / tried < FLOOR ? 'not certainly below' : 'at or above'
    const margin = sample ? ', of a sample' : ''
    console.log(
      `${percent(killed / tried)} of ${tried} mutants killed${margin}: ${verdict} the floor of ${FLOOR * 100} %`,
    )
  }
  const failed = wrong + (below ? 1 : 0)
  console.log(`${below ? 0 : 1} passed, ${failed} failed`)
  process.exitCode = failed > 0 ? 1 : 0
}

/** @param {number} share */
function percent(share) {
  return `${(share * 100).toFixed(1)} %`
}

/** @param {string | undefined} text */
function number(text) {
  if (text === undefined) return undefined
  const value = Number(text)
  if (!Number.isSafeInteger(value) || value < 0) throw new Stop(`${text} is not a whole number.`)
  return value
}

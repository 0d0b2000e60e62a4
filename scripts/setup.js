// @ts-check
// Makes a fresh clone ready to run: a Redis server, the dependencies, the build. It runs before anything is
// installed, so it uses Node's own modules only. Where all is there already it takes about a second.
import { spawnSync } from 'node:child_process'
import { accessSync, constants, existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The repository's folder. */
export const root = fileURLToPath(new URL('..', import.meta.url))

/**
 * What the machine must have besides Node, and the packages that bring it: of several, the first that installs.
 * @type {readonly { what: string, forTests?: boolean, byHand?: string, found: () => boolean, apt: string[], brew: string[], dnf: string[], apk: string[] }[]}
 */
const requirements = [
  {
    what: 'a Redis server',
    found: () => onPath('redis-server') || onPath('valkey-server'),
    apt: ['redis-server', 'valkey-server'],
    brew: ['redis', 'valkey'],
    dnf: ['valkey', 'redis'],
    apk: ['redis', 'valkey'],
  },
  {
    what: 'the Redis client of Python',
    forTests: true,
    byHand:
      'install Python 3 and its package redis, so that `python3 -c "import redis"` works, then try again.',
    found: () => pythonHas('redis'),
    apt: ['python3-redis'],
    brew: [],
    dnf: ['python3-redis'],
    apk: ['py3-redis'],
  },
  {
    what: 'Celery',
    forTests: true,
    byHand: 'install it, so that `python3 -c "import celery"` works, then try again.',
    found: () => pythonHas('celery'),
    apt: ['python3-celery'],
    brew: [],
    dnf: ['python3-celery'],
    apk: ['py3-celery'],
  },
]

/**
 * Whether a Python has a module, by which tests check what another program reads and writes. As Debian's is the one that
 * its packages go to, it is asked first, whatever stands before it on the PATH.
 * @param {string} module
 */
function pythonHas(module) {
  return ['/usr/bin/python3', 'python3'].some(
    (command) => spawnSync(command, ['-c', `import ${module}`], { stdio: 'ignore' }).status === 0,
  )
}

/**
 * How each package manager is asked, without questions.
 * @type {readonly { name: 'apt' | 'brew' | 'dnf' | 'apk', command: string, asRoot: boolean, refresh?: string[], install: string[] }[]}
 */
const installers = [
  {
    name: 'apt',
    command: 'apt-get',
    asRoot: true,
    refresh: ['-qq', 'update'],
    install: ['-qq', '-y', '-o=Dpkg::Use-Pty=0', '--no-install-recommends', 'install'],
  },
  { name: 'dnf', command: 'dnf', asRoot: true, install: ['-q', '-y', 'install'] },
  { name: 'apk', command: 'apk', asRoot: true, install: ['add', '-q', '--no-cache'] },
  { name: 'brew', command: 'brew', asRoot: false, install: ['install', '-q'] },
]

/** Installs and builds what is missing or stale, for the tests too if asked, or throws a `Stop`. */
export async function setup({ forTests = false } = {}) {
  needNode()
  for (const requirement of requirements) {
    if (forTests || !requirement.forTests) need(requirement)
  }
  if (!dependenciesMatchTheLock()) installDependencies()
  build()
  // Only now is there an esbuild to ask.
  const { bundle } = await import('./bundle.js')
  await bundle(root)
}

/** What ends a script with one line that tells a person what to do. */
export class Stop extends Error {}

/**
 * Runs a script's main function: a `Stop` becomes its line on stderr and exit code 1.
 * @param {() => void | Promise<void>} main
 */
export async function run(main) {
  try {
    await main()
  } catch (error) {
    if (isUsage(error)) {
      say(error.message)
      process.exitCode = 2
      return
    }
    if (!(error instanceof Stop)) throw error
    say(error.message)
    process.exitCode = 1
  }
}

/**
 * Whether an error says that a command line has an unknown or incomplete option.
 * @param {unknown} error
 * @returns {error is Error}
 */
function isUsage(error) {
  return error instanceof Error && 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS')
}

/** @param {string} line */
function say(line) {
  process.stderr.write(`${line}\n`)
}

function needNode() {
  if (Number.parseInt(process.versions.node, 10) < 20) {
    throw new Stop(
      `Keyspec needs Node 20 or later, and this is ${process.version}: install it, then try again.`,
    )
  }
}

/** @param {typeof requirements[number]} requirement */
function need(requirement) {
  if (requirement.found()) return
  const installer = installers.find(({ command }) => onPath(command))
  const advice =
    requirement.byHand ??
    (installer
      ? `install it by hand (${installer.command} install ${requirement[installer.name][0]}), then try again.`
      : 'install Redis 6.2 or later, or Valkey 7.2 or later, so that its server is on the PATH, then try again.')
  const isRoot = process.getuid?.() === 0
  if (!installer || (installer.asRoot && !isRoot && !onPath('sudo'))) {
    throw new Stop(`Keyspec needs ${requirement.what}, which cannot be installed from here: ${advice}`)
  }

  say(`Installing ${requirement.what} with ${installer.command} …`)
  const sudo =
    installer.asRoot && !isRoot ? ['sudo', '-n', ...Object.entries(quietly).map(([k, v]) => `${k}=${v}`)] : []
  const ask = (/** @type {readonly string[]} */ ...args) =>
    succeeds([...sudo, installer.command, ...args], quietly)
  if (installer.refresh) ask(...installer.refresh)
  for (const name of requirement[installer.name]) {
    if (ask(...installer.install, name) && requirement.found()) return
  }
  throw new Stop(`Keyspec needs ${requirement.what}, which ${installer.command} could not install: ${advice}`)
}

/** Where Debian's scripts start services by run level, 1 keeps them from starting the packaged server. */
const quietly = { DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1', HOMEBREW_NO_AUTO_UPDATE: '1' }

/** Whether npm's own record of what it installed agrees with the lock file, whoever installed it. */
function dependenciesMatchTheLock() {
  const wanted = packagesIn('package-lock.json')
  const installed = packagesIn('node_modules/.package-lock.json')
  if (!wanted || !installed) return false
  return Object.entries(wanted).every(([path, { version, optional, link }]) => {
    if (!path.startsWith('node_modules/')) return true
    if (link) return existsSync(join(root, path))
    return installed[path]?.version === version || (optional && !installed[path])
  })
}

/**
 * @param {string} lockFile
 * @returns {Record<string, { version?: string, optional?: boolean, link?: boolean }> | undefined}
 */
function packagesIn(lockFile) {
  const path = join(root, lockFile)
  return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')).packages : undefined
}

function installDependencies() {
  say('Installing the dependencies …')
  // npm is a shell script on some systems and a .cmd on others; when it started us, it says where it is.
  const cli = process.env['npm_execpath']
  const command = cli?.endsWith('.js') ? [process.execPath, cli] : ['npm']
  if (!succeeds([...command, 'ci', '--no-audit', '--no-fund', '--loglevel=error'])) {
    throw new Stop('npm ci failed: see above, then try again.')
  }
}

function build() {
  /** @type {{ references: { path: string }[] }} */
  const solution = JSON.parse(readFileSync(join(root, 'tsconfig.json'), 'utf8'))
  const built = solution.references
    .map(({ path }) => path)
    .filter((path) => /^(packages|systems)\//.test(path))
  for (const folder of built) pruneOutput(join(root, folder))
  const tsc = join(root, 'node_modules/typescript/bin/tsc')
  if (!succeeds([process.execPath, tsc, '-b', ...built])) throw new Stop('The build failed: see above.')
}

/**
 * Deletes what was built from a source that is gone: tsc leaves it, and imports and packages would still find it.
 * @param {string} folder
 */
function pruneOutput(folder) {
  const dist = join(folder, 'dist')
  if (!existsSync(dist)) return
  for (const name of readdirSync(dist, { recursive: true, encoding: 'utf8' })) {
    const source = /^(.*)\.(?:js|js\.map|d\.ts)$/.exec(name)?.[1]
    if (source !== undefined && !existsSync(join(folder, 'src', `${source}.ts`))) rmSync(join(dist, name))
  }
}

/**
 * Whether a command ends well; what it prints goes to stderr.
 * @param {readonly string[]} command
 * @param {Record<string, string>} [env]
 */
function succeeds([file = '', ...args], env) {
  const { status } = spawnSync(file, args, {
    cwd: root,
    env: { ...process.env, ...env },
    stdio: ['ignore', 2, 2],
  })
  return status === 0
}

/** @param {string} command */
function onPath(command) {
  return (process.env['PATH'] ?? '').split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, command), constants.X_OK)
      return true
    } catch {
      return false
    }
  })
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await run(setup)

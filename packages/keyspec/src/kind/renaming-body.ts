import type { Argument, Command, Connection, Shape } from '../connection/connection.ts'
import { ServerError } from '../connection/server-error.ts'
import { MigrationError } from '../errors.ts'
import { flag, int, rest, text } from '../script/argument.ts'
import { anyReply, integerReply } from '../connection/reply.ts'
import { permissionProof, proofIn } from '../script/proof.ts'
import { script } from '../script/script.ts'
import { type Proof, type Source, sourceOf } from '../script/source.ts'
import * as lua from './lua.gen.ts'
import { ANY_KEY, VERBS } from './permission.ts'

/** A command as a script over the names that its keys stand under. */
export interface Body {
  /** What the script is given behind what it needs to find the names. */
  readonly given: readonly Argument[]
  /** The script behind `resolve.lua`: both names in one slot. */
  readonly resolved: Source
  /** The script behind `route.lua`: the names in different slots. Answers `[0, reply]`, or `[where]` if it did not run. */
  readonly routed: Source
  /** The script itself; `undefined` if the command is none. */
  readonly plain: Source | undefined
}

type Sources = Omit<Body, 'given'>

const resolve = script('kind/resolve', {
  keys: ['names*'],
  args: { phase: text, removes: flag, counts: text, given: rest },
  lua: lua.resolve,
  commands: ['EXISTS', 'RENAME', 'UNLINK'],
  reply: anyReply,
})
const route = script('kind/route', {
  keys: ['key', 'aside', 'marker'],
  args: { side: text, phase: text, writes: flag, sure: flag, exists: flag, given: rest },
  lua: lua.route,
  commands: ['EXISTS', 'HDEL', 'HEXISTS', 'HSET'],
  reply: integerReply,
})
/** Every command that a verb of a kind sends by itself. */
const COMMANDS: readonly string[] = [...new Set([...ANY_KEY, ...Object.values(VERBS).flat()])].filter(
  (command) => !['EVAL', 'EVALSHA', 'SCAN'].includes(command),
)

const one = script('kind/command', {
  keys: ['keys*'],
  args: { before: int, words: rest },
  lua: lua.command,
  commands: [],
  given: { words: COMMANDS },
  reply: anyReply,
})

const proofs: Proof[] = []
const proofOf = (commands: readonly string[]): Proof => {
  const proof = { lua: permissionProof(commands), passed: new WeakSet<Connection>() }
  proofs.push(proof)
  return proof
}
/** The proofs that a user may find keys, and move them; and may run these commands besides. */
const proofsWith = (...commands: readonly string[]) => ({
  resolved: proofOf([...resolve.commands, ...commands]),
  routed: proofOf([...route.commands, ...commands]),
})
const findingKeys = proofsWith()

/** Proves the permissions to find keys again: a user's rules have changed. */
export function proveAgain(): void {
  for (const proof of proofs) proof.passed = new WeakSet()
}

// A script is known here from its text, which is sent first; there are as many as the program has scripts.
const bySha = new Map<string, Sources>()
const byCommand = new Map<string, Sources>()

/**
 * The scripts for a command that is none itself. Each command has its own, so that a server that does not know the script
 * yet proves the permission for this very command before a key is moved.
 */
function ofCommand([first, second]: Command): Sources {
  const both = `${String(first)} ${String(second)}`
  const name = COMMANDS.includes(both) ? both : String(first)
  let sources = byCommand.get(name)
  if (sources === undefined) {
    sources = sourcesOf(() => `${one.source}\n-- ${name}`, undefined, proofsWith(name))
    byCommand.set(name, sources)
  }
  return sources
}

// Lua cannot unpack many more.
const MOST_WORDS = 7_000

/** The script that does what a command does. Throws NOSCRIPT for an EVALSHA whose text it has not seen. */
export function bodyOf(command: Command, shape: Shape): Body {
  const [name] = command
  if (name !== 'EVAL' && name !== 'EVALSHA') {
    if (command.length > MOST_WORDS)
      throw new MigrationError(
        `${String(command[shape.firstKey])}: ${String(name)} with ${command.length} arguments is too long for a key that is ` +
          `being renamed; give at most ${MOST_WORDS} at once`,
        String(command[shape.firstKey]),
      )
    const keyCount = shape.keyCount === 'rest' ? command.length - shape.firstKey : shape.keyCount
    const words = [...command.slice(0, shape.firstKey), ...command.slice(shape.firstKey + keyCount)]
    return { ...ofCommand(command), given: [String(shape.firstKey), ...words] }
  }
  const given = command.slice(3 + Number(command[2]))
  const body = String(command[1])
  if (name === 'EVAL') {
    const plain = sourceOf(() => body)
    let sources = bySha.get(plain.sha)
    if (sources === undefined) bySha.set(plain.sha, (sources = sourcesOf(() => body, plain)))
    return { ...sources, given }
  }
  const sources = bySha.get(body)
  if (sources === undefined) throw new ServerError('NOSCRIPT no such text yet', name, String(command[3]))
  return { ...sources, given }
}

/**
 * The body keeps its first line, so that the line numbers of Redis's errors stay those of the `.lua` file. Its proof of
 * permissions comes first of all, so that a key is not moved for a script that the user may not run.
 */
function sourcesOf(text: () => string, plain: Source | undefined, proven = findingKeys): Sources {
  const head = () => {
    const all = text()
    const proof = proofIn(all)
    return `${proof} local function body(KEYS, ARGV) ${all.slice(proof.length)}\nend `
  }
  return {
    plain,
    resolved: sourceOf(
      () =>
        `${head()}local function resolve(KEYS, ARGV) ${resolve.source}\nend\n` +
        'local own, given = resolve(KEYS, ARGV)\n' +
        'if own.err then return own end\n' +
        'return body(own, given)',
      proven.resolved,
    ),
    routed: sourceOf(
      () =>
        `${head()}local function route(KEYS, ARGV) ${route.source}\nend\n` +
        'local where, given = route(KEYS, ARGV)\n' +
        'if where ~= 0 then return {where} end\n' +
        'local reply = body({KEYS[1]}, given)\n' +
        "if type(reply) == 'table' and reply.err then return reply end\n" +
        'if reply == nil then reply = false end\n' +
        'return {0, reply}',
      proven.routed,
    ),
  }
}

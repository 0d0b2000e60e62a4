/** Errors whose words were made by us, and hold nothing of a value. */
const vouchedFor = new WeakSet<Error>()

/** Says of an error of ours that it quotes nothing, though its words may be those of a value by chance: the path in it. */
export function vouched<E extends Error>(error: E): E {
  vouchedFor.add(error)
  return error
}

/** Whether an error is `vouched`. */
export function isVouched(error: unknown): error is Error {
  return error instanceof Error && vouchedFor.has(error)
}

const RUN = 5
const LONGEST = 300

/**
 * The words of an error, or of a validator's issue, if they quote nothing of a value; else without their tail that says
 * what was received; else `undefined`. Words quote a value if they share a run of five characters with one of its leaves,
 * or hold a shorter leaf as a word.
 */
export function unquoted(message: string, value: unknown): string | undefined {
  const leaves = leavesOf(value)
  const words = message.slice(0, LONGEST)
  if (!quotes(words, leaves)) return words
  const cut = words.replace(RECEIVED, '').trim()
  return cut === '' || quotes(cut, leaves) ? undefined : cut
}

// `Expected number but received "x"` (valibot), `expected string, received number` (zod), `must be a number (was "x")` (arktype).
const RECEIVED = /[,;:]?\s*(?:\(was\b|(?:but )?\b(?:received|got)\b).*$/is

function quotes(words: string, leaves: readonly string[]): boolean {
  const runs = new Set<string>()
  for (let at = 0; at + RUN <= words.length; at += 1) runs.add(words.slice(at, at + RUN))
  const single = new Set(words.split(/[\s"'`“”,;:()[\]{}]+/))
  return leaves.some((leaf) => {
    if (leaf.length < RUN) return leaf !== '' && single.has(leaf)
    for (let at = 0; at + RUN <= leaf.length; at += 1) if (runs.has(leaf.slice(at, at + RUN))) return true
    return false
  })
}

// Not the names of properties, which say where in the value.
function leavesOf(value: unknown): string[] {
  const leaves: string[] = []
  const seen = new Set<object>()
  const follow = (inner: unknown): void => {
    if (inner instanceof Uint8Array) leaves.push(Buffer.from(inner).toString('latin1'))
    else if (typeof inner !== 'object' || inner === null) {
      if (typeof inner !== 'function' && typeof inner !== 'boolean') leaves.push(String(inner))
    } else if (!seen.has(inner)) {
      seen.add(inner)
      for (const next of inner instanceof Map ? [...inner].flat() : Object.values(inner)) follow(next)
    }
  }
  follow(value)
  return leaves
}

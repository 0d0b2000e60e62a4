/**
 * The handle of a key, or of many, that could not be named: each of its verbs rejects with the error, as a verb does with
 * any other. Naming a key never throws, so that one `catch` around the verb is enough.
 *
 * @param keys - The keys of a handle of many, of which some could be named.
 */
export function refused(error: unknown, keys?: readonly unknown[]): object {
  const verbs = new Map<string, () => unknown>()
  const verb = (name: string) => {
    if (ITERATED.has(name)) return () => iterationRefused(error)
    if (HANDLES.has(name)) return () => refused(error)
    return async () => {
      throw error
    }
  }
  return new Proxy(Object.create(null) as object, {
    get(_, name) {
      if (typeof name === 'symbol')
        return name === Symbol.iterator && keys !== undefined ? () => keys[Symbol.iterator]() : undefined
      if (NOT_VERBS.has(name)) return undefined
      // The properties of a handle that are no verbs have no promise to reject.
      if (PROPERTIES.has(name)) throw error
      if (!verbs.has(name)) verbs.set(name, verb(name))
      return verbs.get(name)
    },
  })
}

/** The verbs that answer an async iterator; a test compares them with the handles of all kinds. */
const ITERATED: ReadonlySet<string> = new Set(['scan', 'inProgress', 'failures'])

/** The verbs that answer another handle. */
const HANDLES: ReadonlySet<string> = new Set(['group'])

/** The properties of handles. */
const PROPERTIES: ReadonlySet<string> = new Set(['name', 'names', 'limit'])

/** What `await`, `JSON.stringify` and consoles ask of any object. */
const NOT_VERBS: ReadonlySet<string> = new Set([
  'then',
  'toJSON',
  'constructor',
  'nodeType',
  'asymmetricMatch',
  '$$typeof',
])

async function* iterationRefused(why: unknown): AsyncGenerator<never> {
  yield await Promise.reject(why)
}

import { expect, test } from 'vitest'
import { filesIn, textOf } from './tracked.ts'

// A decoder that casts lets a reply of another form through, and whoever reads it next fails without a name.
const CAST = /\breply(?:: \([^)]*\) =>|\)(?:: [^=]*)? => \{[^}]*?=) reply as\b/s

test('the decoder of a script reads its reply, and casts none', () => {
  const sources = ['packages/keyspec/src', 'packages/inspect/src', 'packages/cli/src'].flatMap(sourcesIn)
  expect(sources.length).toBeGreaterThan(100)
  expect(sources.filter((path) => CAST.test(textOf(path)))).toEqual([])
})

test.each([
  'reply: (reply) => reply as readonly number[],',
  'reply: (reply: Reply) => reply as Buffer,',
  'reply: (reply) => {\n    const [next] = reply as readonly Reply[]',
])('a cast is found: %s', (text) => {
  expect(text).toMatch(CAST)
})

// The decoders themselves, the adapters, which make replies, and the suite, whose assertions look at them.
const READS_FORMS = /\/connection\/(?:reply\.ts|client\/)|\/testing\//

test('the library and its tools cast no reply: they read each by a decoder', () => {
  const sources = ['keyspec', 'inspect', 'cli']
    .flatMap((name) => sourcesIn(`packages/${name}/src`))
    .filter((path) => !READS_FORMS.test(path))
  expect(sources.length).toBeGreaterThan(100)
  expect(sources.flatMap((path) => castsOf(textOf(path)).map((cast) => `${path}: ${cast}`))).toEqual([])
})

test.each([
  'const n = (await this.send([a, b(c)], ONE_KEY)) as number',
  'const n = ((await this.read([a], ONE_KEY)) as number | null) ?? undefined',
  'const all = (await Promise.all([\n  connection.send([a], ONE_KEY),\n])) as string[]',
  'const sent = connection.send([a], ONE_KEY) as Promise<string>',
  'return (await run(connection, { key }, how)) as readonly Reply[]',
  'const reply = await this.write([a])\nreturn (reply as number) > 0',
  'function outcome(answer: Reply): Outcome {\n  return answer as unknown as Outcome\n}',
  'function elements(found: readonly Reply[]) {\n  return found[0] as string\n}',
])('a cast of a reply is found: %s', (text) => {
  expect(castsOf(text)).toHaveLength(1)
})

test.each([
  'const n = decodeReply(integerReply, await this.send([a], ONE_KEY), key)',
  'const entry = openEntry(spec, opening, keyAt) as Entry',
  'return names.filter((name) => has(name)) as Name[]',
  'function f(reply: Reply) {\n  return read(reply) as Value\n}',
  'function f(reply: Reply, name: string) {\n  return name as Name\n}',
])('what is no cast of a reply is passed over: %s', (text) => {
  expect(castsOf(text)).toEqual([])
})

function sourcesIn(folder: string): string[] {
  return filesIn(folder).filter((path) => path.endsWith('.ts') && !/\.test(-d)?\.ts$/.test(path))
}

const ASKS = /(?:\b(?:ask|askBytes)|\.(?:send|read|write)|\b(?:run|evaluate|sendKnown|writeWithLifetime))\(/

/** The casts whose operand asks the server, or is a name that the file declares as a reply. */
function castsOf(text: string): string[] {
  const names = new Set([
    ...Array.from(text.matchAll(/\b(\w+)\??: (?:readonly )?Reply\b/g), ([, name]) => name),
    ...Array.from(
      text.matchAll(/\b(?:const|let) (\w+) = await \S+?\.(?:send|read|write)\(/g),
      ([, name]) => name,
    ),
  ])
  return [...text.matchAll(/ as (?!const\b)/g)].flatMap(({ index }) => {
    const operand = operandBefore(text, index)
    const isReply = operand.endsWith(')') ? ASKS.test(operand) : names.has(/^\w+/.exec(operand)?.[0])
    return isReply ? [text.slice(index - operand.length, text.indexOf('\n', index) >>> 0)] : []
  })
}

/** The expression that ends at a place: a name with what follows it in brackets and dots, or what stands in parentheses. */
function operandBefore(text: string, end: number): string {
  let depth = 0
  let at = end
  for (; at > 0; at -= 1) {
    const letter = text[at - 1]!
    if (/[)\]}]/.test(letter)) depth += 1
    else if (/[([{]/.test(letter)) {
      if (depth === 0) break
      depth -= 1
    } else if (depth === 0 && !/[\w.!?$#]/.test(letter)) break
  }
  return text.slice(at, end)
}

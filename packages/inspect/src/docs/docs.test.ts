import { integer, json, param, type Schema, string, text } from 'keyspec'
import { cache, external } from 'keyspec/recipes'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { manifest } from '../manifest/manifest.ts'
import { type DocsCommands, renderDocs, type RenderDocsOptions } from './docs.ts'

const commands: DocsCommands = {
  about: 'Look.',
  read: ({ example }) => [`see ${example}`],
  scan: ({ pattern }, prefix) => `find ${prefix} ${pattern}`,
}
const page = (schema: Schema, options: RenderDocsOptions & { prefix?: string } = {}) =>
  renderDocs(manifest(schema, options), { commands, ...options })

const Session = z.object({
  user: z.string(),
  at: z.iso.date().nullable(),
  cart: z.array(z.object({ sku: z.string(), count: z.int().min(1).optional() })),
  theme: z.enum(['light', 'dark']).default('light'),
})

test('a page has an overview, every key in a table, and a section with all that is said of an entry', () => {
  const made = page(
    {
      session: string('session:<userId>', json(Session), {
        ttl: '1h',
        about: 'Who is <there>',
        subject: 'userId',
        owner: 'accounts',
        renamedFrom: { pattern: 'sess:<userId>', phase: 2 },
        jitter: 0.1,
        budget: '1kb',
        evictable: false,
      }),
      calls: string('calls:<hour>', integer, {
        ttl: 'forever',
        reason: 'a | b',
        params: { hour: param.hour },
      }),
    },
    { title: 'Our keys', intro: 'Read me.', prefix: 'prod:' },
  )
  expect(made.startsWith('# Our keys\n\nRead me.\n\n2 entries with 2 key patterns: 1 of the patterns')).toBe(
    true,
  )
  const lines = made.split('\n')
  expect(lines).toEqual(
    expect.arrayContaining([
      '| `session:<userId>` | string | session | Who is &lt;there> | 1h from the last write |',
      '| `calls:<hour>` | string | calls |  | forever: a \\| b |',
      '### session',
      'Who is &lt;there>.',
      '- key: `session:<userId>`, as in `prod:session:42`',
      '- lifetime: 1h from the last write, up to 10 % less, by chance',
      '- stands for a person: `<userId>`',
      '- owner: accounts',
      '- memory of one key: at most 1024 bytes',
      '- eviction: not allowed',
      '- was: `sess:<userId>`',
      '- placeholders: `<hour>` hour',
      '| `at` | string (date) or null |',
      '| `cart` | list of object |',
      '| `cart[].sku` | string |',
      '| `theme` | `"light"`, `"dark"`, optional |',
      'see prod:session:42',
      '| `sess:<userId>` | `session:<userId>` |',
      '| session | `find prod: session:<userId>` |',
    ]),
  )
  expect(made).toMatch(/^\| `cart\[\]\.count` \| integer ≥ 1.*, optional \|$/m)
})

test('a life cycle says when a key’s time starts anew, and how it ends', () => {
  const life = (options: object) => page({ a: string('a:<id>', text, options as never) })
  expect(life({ ttl: '90m', renew: 'creation' })).not.toContain('anew')
  expect(life({ ttl: '90m', renew: 'creation' })).toContain('alive --> expired: 90m after it was created')
  expect(life({ ttl: '90m' })).toContain('alive --> alive: written, 90m anew')
  expect(life({ ttl: '90m', renew: 'read' })).toContain('alive --> alive: read or written, 90m anew')
  expect(life({ ttl: 'forever', reason: 'state' })).not.toContain('expired')
})

test('keys of one life share a diagram, all keys of an entry are listed, and external ones stand apart', () => {
  const made = page({
    one: cache('cache:one:<id>', text, { ttl: '1h', about: 'One' }),
    two: cache('cache:two:<id>', text, { ttl: '1h', about: 'Two' }),
    cron: external('cron:<name>', { by: 'the old cron', keys: 'string', about: 'Its locks' }),
  })
  expect(made).toContain('**1h from the last write**: one, two')
  expect(made.match(/```mermaid/g)).toHaveLength(2)
  expect(made).toContain('| `lock:cache:one:<id>` | string | `text` |')
  expect(made).toContain('1 entry more belongs to another program: the old cron.')
  expect(made).toContain('| `cron:<name>` | string | the old cron | Its locks |')
  expect(made).not.toContain('### cron')
})

test('under a heading of another page it is one level deeper, and has no title', () => {
  const made = page({ a: string('a', text, { ttl: '1h' }) }, { level: 2 })
  expect(made.match(/^#+ .*$/gm)).toEqual(['### Entries', '#### a', '### Life cycles', '### Quick reference'])
  const bare = page({ a: string('a', text, { ttl: '1h' }) }, { commands: undefined })
  expect(bare).not.toMatch(/Quick reference|```sh/)
})

test('names that Markdown would read otherwise are quoted', () => {
  const made = page({ a: string("it's a\u0006|`<id>", text, { ttl: '1h' }) })
  expect(made).toContain("- key: ``it's a\\x06\\|`<id>``")
})

import { fileURLToPath } from 'node:url'
import { costOf, usualCost } from '../child.ts'
import type { Trial } from '../trial.ts'

const RUNS = 3
const HELP = 'keyspec --help'
const SCRIPT = 'keyspec explain KEY, the schema in JavaScript'
const TYPED = 'keyspec explain KEY, the schema in TypeScript'
const cases = [HELP, SCRIPT, TYPED]

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url))
const command = here('../../../packages/cli/bin/keyspec.js')
const schemas: { readonly [name: string]: string } = {
  [SCRIPT]: here('./start-up-schema.js'),
  [TYPED]: here('../../src/trials/start-up-schema.ts'),
}

/** From the moment a command is entered until it has ended. */
export const startUp: Trial = {
  name: 'start-up',
  about:
    `A whole run of the command beside \`node -e 0\`; each figure is the middle of ${RUNS} runs. ` +
    'CPU time counts, since nobody else on the machine adds to it. TypeScript needs a compiler before Node 22.18.',
  figures: { cpuMs: { label: 'CPU time', unit: 'ms' }, wallMs: { label: 'time', unit: 'ms' } },
  cases,
  contenders: {
    keyspec: {
      label: 'keyspec',
      async run(name, { server }) {
        const words = [process.execPath, command]
        if (name === HELP) return figuresOf([...words, '--help'])
        const redis = await server()
        await redis.command('SET', 'session:42', '{"user":"ada"}', 'EX', 60)
        const schema = `${schemas[name]}#schema`
        return figuresOf([...words, 'explain', 'session:42', '--schema', schema, '--url', redis.address.url])
      },
    },
    node: { label: 'node -e 0', run: async () => figuresOf([process.execPath, '-e', '0']) },
  },
  targets: cases.map((name) => ({
    case: name,
    figure: 'cpuMs',
    ours: 'keyspec',
    against: ['node'],
    atMost: 1.5,
  })),
}

function figuresOf(words: readonly string[]) {
  const { cpuMs, wallMs } = usualCost(RUNS, () => costOf(words))
  return { cpuMs, wallMs }
}

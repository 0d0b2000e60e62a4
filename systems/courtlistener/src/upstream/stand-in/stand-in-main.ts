import { parseArgs } from 'node:util'

import { standInName, startStandIn } from './stand-in.ts'

// Runs the stand-in as a process of its own. The first line of its output is JSON: { name, url, dockets }.
const { values } = parseArgs({
  options: {
    port: { type: 'string' },
    dockets: { type: 'string' },
    seed: { type: 'string' },
    'call-limit': { type: 'string' },
    token: { type: 'string' },
  },
})

const standIn = await startStandIn({
  ...count('port', 'port'),
  ...count('dockets', 'dockets'),
  ...count('seed', 'seed'),
  ...count('call-limit', 'callLimit'),
  ...(values.token === undefined ? {} : { tokens: [values.token] }),
})
process.stdout.write(
  `${JSON.stringify({ name: standInName, url: standIn.url, dockets: standIn.dockets.length })}\n`,
)

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => void standIn.close())
}

function count<N extends string>(name: keyof typeof values, option: N): { readonly [K in N]?: number } {
  const text = values[name]
  if (text === undefined) return {}
  if (!/^\d+$/.test(text)) {
    process.stderr.write(`--${name} takes a whole number, not "${text}"\n`)
    process.exit(2)
  }
  return { [option]: Number(text) } as { readonly [K in N]?: number }
}

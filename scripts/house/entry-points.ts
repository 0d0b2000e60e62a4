import { textOf } from './tracked.ts'

/** Where the library is. */
export const LIBRARY = 'packages/keyspec'

interface Target {
  readonly types: string
  readonly default: string
}

/** The ways into the library: what a user writes, the source it stands for, and what is run, as paths from the root. */
export const entryPoints = Object.entries<Target>(JSON.parse(textOf(`${LIBRARY}/package.json`)).exports)
  .filter(([subpath]) => subpath !== './package.json')
  .map(([subpath, target]) => ({
    specifier: subpath.replace('.', 'keyspec'),
    source: target.types.replace('./dist', `${LIBRARY}/src`).replace(/\.d\.ts$/, '.ts'),
    published: target.default.replace('.', LIBRARY),
  }))

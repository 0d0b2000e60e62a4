import { textOf } from './tracked.ts'

/** The folders of the published packages that programs import. */
export const PACKAGES = ['packages/keyspec', 'packages/inspect']

interface Target {
  readonly types: string
  readonly default: string
}

interface EntryPoint {
  /** The folder of the package. */
  readonly folder: string
  readonly specifier: string
  /** The path of the source from the root, and of the file that is published. */
  readonly source: string
  readonly published: string
}

/** The entry points of the packages. */
export const entryPoints = PACKAGES.flatMap(entryPointsOf)

function entryPointsOf(folder: string): EntryPoint[] {
  const { name, exports } = JSON.parse(textOf(`${folder}/package.json`)) as {
    name: string
    exports: Record<string, Target>
  }
  return Object.entries(exports)
    .filter(([subpath]) => subpath !== './package.json')
    .map(([subpath, target]) => ({
      folder,
      specifier: subpath.replace('.', name),
      source: target.types.replace('./dist', `${folder}/src`).replace(/\.d\.ts$/, '.ts'),
      published: target.default.replace('.', folder),
    }))
}

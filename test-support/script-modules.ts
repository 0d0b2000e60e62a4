import { readdirSync } from 'node:fs'
import { join } from 'node:path'

const packages = join(import.meta.dirname, '../packages')
const FOLDERS = ['connection', 'kind', 'recipe', 'script'].map((name) => join(packages, 'keyspec/src', name))

const files = [...FOLDERS, join(packages, 'inspect/src')].flatMap((folder) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name)),
)

/** The paths of all modules that may describe a script. */
export const scriptModules: readonly string[] = files.filter(
  (path) => path.endsWith('.ts') && !/\.test(-d)?\.ts$/.test(path),
)

/** The paths of all Lua files. */
export const luaFiles: readonly string[] = files.filter((path) => path.endsWith('.lua'))

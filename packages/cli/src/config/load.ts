import { existsSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import type { Schema } from 'keyspec'
import type { Settings } from '../command.ts'
import { ConfigError, misused, reason } from '../failure.ts'
import type { Config } from './config.ts'
import { importModule } from './import-module.ts'

/** The flags that say where the declaration is. */
export interface ConfigFlags {
  readonly config?: string | undefined
  readonly schema?: string | undefined
  readonly prefix?: string | undefined
}

const NAMES = ['keyspec.config.ts', 'keyspec.config.mts', 'keyspec.config.js', 'keyspec.config.mjs']

/** The configuration: the file given or found here or above, with the flags laid over it. */
export async function loadConfig(flags: ConfigFlags, cwd: string): Promise<Settings> {
  const path = flags.config === undefined ? findUpwards(cwd) : resolve(cwd, flags.config)
  if (flags.config !== undefined && !existsSync(path!)) throw misused(`there is no ${flags.config}`)
  const usesFile = path !== undefined && (flags.config !== undefined || flags.schema === undefined)
  const config = usesFile ? await readConfig(path) : undefined
  const schema = flags.schema === undefined ? config?.schema : await readSchema(flags.schema, cwd)
  if (schema === undefined)
    throw misused('there is no keyspec.config.ts here or above: write one, or give --schema FILE')
  return {
    ...config,
    schema,
    prefix: flags.prefix ?? config?.prefix ?? '',
    folder: usesFile ? dirname(path) : cwd,
  }
}

function findUpwards(from: string): string | undefined {
  for (let folder = from; ; folder = dirname(folder)) {
    const found = NAMES.map((name) => join(folder, name)).find((path) => existsSync(path))
    if (found !== undefined) return found
    if (dirname(folder) === folder) return undefined
  }
}

async function readConfig(path: string): Promise<Config> {
  const { default: config } = await read(path)
  if (!isRecord(config) || !isRecord(config['schema']))
    throw misused(`${path} exports no configuration: export default defineConfig({ schema, … })`)
  requireSchema(config['schema'], path)
  return config as unknown as Config
}

async function readSchema(flag: string, cwd: string): Promise<Schema> {
  const at = flag.lastIndexOf('#')
  const [file, name] = at === -1 ? [flag, undefined] : [flag.slice(0, at), flag.slice(at + 1)]
  const path = resolve(cwd, file)
  if (!existsSync(path)) throw misused(`there is no ${file}`)
  const exported = await read(path)
  if (name !== undefined) {
    if (!isSchema(exported[name])) throw misused(`${file} exports no schema "${name}"`)
    return exported[name]
  }
  const found = Object.entries(exported).filter(([, value]) => isSchema(value))
  if (found.length !== 1)
    throw misused(
      found.length === 0
        ? `${file} exports no schema`
        : `${file} exports several schemas: give one, as in ${file}#${found[0]![0]}`,
    )
  return found[0]![1] as Schema
}

async function read(path: string): Promise<Record<string, unknown>> {
  try {
    return await importModule(path)
  } catch (error) {
    throw new ConfigError(`${path} does not load: ${reason(error)}`, error)
  }
}

function requireSchema(schema: Record<string, unknown>, path: string): asserts schema is Schema {
  for (const [name, member] of Object.entries(schema)) {
    if (!isKind(member) && !isMounted(member))
      throw misused(`${path}: schema.${name} is no entry and no mount(…)`)
  }
}

function isSchema(value: unknown): value is Schema {
  return (
    isRecord(value) &&
    Object.keys(value).length > 0 &&
    Object.values(value).every((member) => isKind(member) || isMounted(member))
  )
}

function isKind(value: unknown): boolean {
  return isRecord(value) && Array.isArray(value['keys']) && typeof value['open'] === 'function'
}

function isMounted(value: unknown): boolean {
  return isRecord(value) && typeof value['prefix'] === 'string' && isSchema(value['schema'])
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}

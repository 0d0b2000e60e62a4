import { pathToFileURL } from 'node:url'

/** The exports of a module, TypeScript or JavaScript, without a build step: natively where this Node can, else with jiti. */
export async function importModule(path: string): Promise<Record<string, unknown>> {
  const isTypeScript = /\.[cm]?ts$/.test(path)
  if (!isTypeScript || hasTypeScript())
    return (await import(pathToFileURL(path).href)) as Record<string, unknown>
  const { createJiti } = await import('jiti')
  // A second copy of these would not know the first one's errors.
  const jiti = createJiti(path, { nativeModules: ['keyspec', '@keyspec/cli'], interopDefault: false })
  return jiti.import(path)
}

function hasTypeScript(): boolean {
  const { typescript } = process.features as { readonly typescript?: unknown }
  return typescript === 'strip' || typescript === 'transform'
}

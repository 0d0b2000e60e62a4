import { type Manifest, manifest } from '@keyspec/inspect'
import { patternsOf } from 'keyspec/extend'
import type { Settings } from '../command.ts'
import { misused } from '../failure.ts'

type SchemaConverter = NonNullable<NonNullable<Parameters<typeof manifest>[1]>['jsonSchemaOf']>

/** The manifest of the configured schema, with the JSON Schemas of its values as far as their libraries can give them. */
export async function manifestOf({ schema, prefix }: Settings): Promise<Manifest> {
  return manifest(schema, { prefix, ...(await converterFor(schema)) })
}

/** Valibot leaves JSON Schema to a package of its own: loaded where a schema is valibot's and the package is there. */
async function converterFor(
  schema: Settings['schema'],
): Promise<{ readonly jsonSchemaOf?: SchemaConverter }> {
  if (![...patternsOf(schema)].some(({ spec }) => vendorsOf(spec.codec).includes('valibot'))) return {}
  let toJsonSchema: (schema: never, options: object) => object
  try {
    ;({ toJsonSchema } = await import('@valibot/to-json-schema'))
  } catch (error) {
    if ((error as { readonly code?: unknown }).code !== 'ERR_MODULE_NOT_FOUND') throw error
    return {
      jsonSchemaOf(each) {
        if (each['~standard'].vendor === 'valibot') throw misused('install @valibot/to-json-schema')
        return undefined
      },
    }
  }
  return {
    jsonSchemaOf(each) {
      if (each['~standard'].vendor !== 'valibot') return undefined
      // What has no form in JSON Schema, as a custom check, is left out: it narrows, and never changes the shape.
      const options = { target: 'draft-2020-12', typeMode: 'input', errorMode: 'ignore' }
      return { ...toJsonSchema(each as never, options) }
    },
  }
}

function vendorsOf(codec: object): string[] {
  const vendorOf = (each: unknown) =>
    (each as { readonly schema?: { readonly '~standard'?: { readonly vendor: string } } }).schema?.[
      '~standard'
    ]?.vendor
  return [codec, ...Object.values(codec)].flatMap((each) =>
    typeof each === 'object' && each !== null ? (vendorOf(each) ?? []) : [],
  )
}

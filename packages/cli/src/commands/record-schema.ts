/** JSON Schema of a count. */
export const count = { type: 'integer', minimum: 0 } as const

/** JSON Schema of some keys, as `escapeKey` shows them. */
export const fewKeys = { type: 'array', items: { type: 'string' }, maxItems: 5 } as const

/** JSON Schema of an object that has these properties, the optional ones perhaps, and no others. */
export function object<const P extends object, const O extends keyof P & string = never>(
  properties: P,
  optional: readonly O[] = [],
) {
  const isRequired = (name: string): name is Exclude<keyof P & string, O> => !optional.includes(name as O)
  return {
    type: 'object',
    properties,
    required: Object.keys(properties).filter(isRequired),
    additionalProperties: false,
  } as const
}

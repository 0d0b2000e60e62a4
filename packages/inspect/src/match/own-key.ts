import { ASIDE, MARKER, REGISTER } from 'keyspec/extend'

/**
 * What Keyspec itself keeps at a key while an entry is renamed, in words; `undefined` for any other key. No entry owns such a
 * key, and no tool counts it as one that no entry owns.
 */
export function keptForRename(key: Buffer): string | undefined {
  const text = key.toString('latin1')
  if (text.endsWith(REGISTER)) return 'the phases of renames that programs used within the last minute'
  if (text.includes(ASIDE)) return 'a value on its way to its new name, in another slot'
  return text.includes(MARKER) ? 'a note that a key has moved to another slot' : undefined
}

/** Whether a key is the register of phases, which programs write again and again: it is no data, and is never chosen. */
export function isRegister(name: string): boolean {
  return name.endsWith(REGISTER)
}

/** The name of the key that a key of Keyspec's own stands beside, on its way (`aside`) or noted as moved (`marker`). */
export function besides(name: string): { readonly of: string; readonly is: 'aside' | 'marker' } | undefined {
  for (const [word, is] of [
    [ASIDE, 'aside'],
    [MARKER, 'marker'],
  ] as const) {
    const at = name.indexOf(word)
    if (at === -1) continue
    const before = name.slice(0, at)
    const rest = name.slice(at + word.length)
    const whole = rest.startsWith(`{${before}`) && rest.endsWith('}') ? rest.slice(1, -1) : undefined
    // A name without a hash tag stands whole in braces.
    return { of: whole === undefined || /^[^{]*\{[^}]+\}/.test(whole) ? before + rest : whole, is }
  }
  return undefined
}

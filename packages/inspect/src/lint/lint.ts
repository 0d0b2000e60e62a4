import type { Schema } from 'keyspec'
import { type Conflict, conflicts, patternsOf, type ValidateOptions } from 'keyspec/extend'
import { lookAlikes } from './look-alike.ts'

/** Something in a schema that is wrong, or is likely not meant. */
export interface LintIssue {
  readonly code: Conflict['code'] | 'look-alike' | 'no-about'
  readonly severity: 'error' | 'warning'
  readonly entry: string
  readonly pattern: string
  /** The other entry, where two are concerned. */
  readonly other?: string
  /** A key that shows it. */
  readonly example?: string
  readonly message: string
  readonly advice: string
}

/** How a schema is judged. */
export interface LintOptions extends ValidateOptions {
  /** Pieces of names that look like others, and are meant to. */
  readonly alike?: readonly string[] | undefined
}

const ADVICE: Readonly<Record<Conflict['code'], string>> = {
  prefix: 'give the prefix as it stands before every key',
  overlap: 'put a text into one of the patterns that the other cannot have there',
  slots: 'on a cluster, put what they have in common into {braces}',
}

/** All that can be said against a schema without a server: what cannot be opened, and what is likely a mistake. */
export function* lint(schema: Schema, options: LintOptions = {}): Generator<LintIssue> {
  for (const conflict of conflicts(schema, options)) {
    yield { severity: 'error', ...conflict, advice: ADVICE[conflict.code] }
    if (conflict.code === 'prefix') return
  }
  const all = [...patternsOf(schema)]
  for (const [one, other, words] of lookAlikes(all, options.alike)) {
    yield {
      code: 'look-alike',
      severity: 'warning',
      entry: one.entry,
      pattern: one.pattern.text,
      other: other.entry,
      message: `${one.entry} ("${one.pattern.text}") and ${other.entry} ("${other.pattern.text}") look alike: "${words[0]}", "${words[1]}"`,
      advice: 'use one spelling, or name one of the words in `check.alike` of the configuration',
    }
  }
  const described = new Set<string>()
  for (const { entry, spec, pattern } of all) {
    if (described.has(entry)) continue
    described.add(entry)
    if (spec.about !== undefined && spec.about.trim() !== '') continue
    yield {
      code: 'no-about',
      severity: 'warning',
      entry,
      pattern: pattern.text,
      message: `${entry} ("${pattern.text}") does not say what it is for`,
      advice: 'say it in `about`: one sentence for the documentation',
    }
  }
}

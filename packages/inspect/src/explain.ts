// `@keyspec/inspect/explain`: a third of `@keyspec/inspect`, for a command that should start at once.
export type { DecodedPart } from './judge/decoded.ts'
export { explain, type ExplainedValue, type Explanation, type ExplainOptions } from './judge/explain.ts'
export { escapeKey, unescapeKey } from './match/key-name.ts'

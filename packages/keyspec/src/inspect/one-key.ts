// `keyspec/explain`: a third of `keyspec/inspect`, for what is to start at once.
export { type Decoded } from './decoded.ts'
export { explain, type ExplainedValue, type Explanation, type ExplainOptions } from './explain.ts'
export { keyFrom, shown } from './key-name.ts'

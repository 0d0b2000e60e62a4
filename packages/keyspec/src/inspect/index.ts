export { expectedType } from './expected-type.ts'
export { matcher, type Matcher } from './matcher.ts'
export { usage, type Usage, type UsageOptions } from './usage.ts'

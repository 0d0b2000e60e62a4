export type { Patience } from './patience.ts'
export { requestJson, type JsonRequest } from './request-json.ts'
export { Secret } from './secret.ts'
export {
  UpstreamError,
  type UpstreamErrorDetails,
  type UpstreamReason,
} from '@keyspec-systems/program/upstream'

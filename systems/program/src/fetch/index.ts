export { isPrivate } from './address.ts'
export {
  guardedFetch,
  type GuardedFetchOptions,
  type GuardedResponse,
  RefusedAddressError,
} from './guarded-fetch.ts'

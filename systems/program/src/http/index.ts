export type { Call } from './call.ts'
export { jsonIn } from './call.ts'
export { Problem } from './problem.ts'
export {
  type Answer,
  type Answered,
  type HttpService,
  httpService,
  type Listening,
  type Route,
  type ServiceOptions,
} from './http-service.ts'

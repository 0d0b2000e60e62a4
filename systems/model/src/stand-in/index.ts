export type { Fault } from './fault.ts'
export {
  modelStandInName,
  startModelStandIn,
  type Asking,
  type ModelStandInOptions,
} from './model-stand-in.ts'
export { serveStandIn, type Asked, type StandIn, type Told } from './server.ts'

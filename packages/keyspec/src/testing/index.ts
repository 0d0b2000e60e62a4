export { connectionSuite } from './connection-suite.ts'
export { eventually, unique } from './eventually.ts'
export { startRedis, type RedisOptions, type TemporaryRedis } from './redis.ts'
export type { RawArgument, RawBufferReply, RawReply } from '../connection/client/resp.ts'

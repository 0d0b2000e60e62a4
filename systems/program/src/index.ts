export { commandLine, misuse } from './command-line.ts'
export { needRedis, redisName } from './need-redis.ts'

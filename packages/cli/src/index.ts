export { type Config, defineConfig, type SentinelOptions } from './config/config.ts'

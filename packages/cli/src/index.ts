export {
  type CheckOptions,
  type Config,
  defineConfig,
  type DocsOptions,
  type SentinelOptions,
} from './config/config.ts'

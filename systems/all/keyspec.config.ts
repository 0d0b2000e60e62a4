import { defineConfig } from '@keyspec/cli'
import { all } from './src/schema.ts'

export default defineConfig({ schema: all })

import { defineConfig } from '@keyspec/cli'
import { mirrulations } from './src/schema.ts'

export default defineConfig({
  schema: mirrulations,
  docs: { page: 'README.md' },
})

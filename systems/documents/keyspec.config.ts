import { defineConfig } from '@keyspec/cli'
import { documents } from './src/schema.ts'

export default defineConfig({
  schema: documents,
  docs: { page: 'README.md' },
})

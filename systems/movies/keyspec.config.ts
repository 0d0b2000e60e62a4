import { defineConfig } from '@keyspec/cli'
import { moviesSchema } from './src/schema.ts'

export default defineConfig({
  schema: moviesSchema(),
  prefix: `${process.env['MOVIES_ENV'] ?? 'demo'}:`,
  docs: { page: 'README.md' },
})

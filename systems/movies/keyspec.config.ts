import { defineConfig } from '@keyspec/cli'
import { moviesSchema } from './src/schema.ts'

export default defineConfig({
  schema: moviesSchema(),
  prefix: `${process.env['MOVIES_ENV'] ?? 'demo'}:`,
  docs: { page: 'README.md' },
  // A pure cache beside other programs on one machine: 200 to 500 MB, nothing on disk, and only what expires may go.
  server: { persistence: 'none', maxmemoryPolicy: 'volatile-lru', maxmemory: '500mb' },
})

import { defineConfig } from '@keyspec/cli'
import { courtlistenerSchema } from './src/schema.ts'

export default defineConfig({
  schema: courtlistenerSchema(),
  docs: { page: 'README.md' },
})

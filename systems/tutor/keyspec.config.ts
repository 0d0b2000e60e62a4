import { defineConfig } from '@keyspec/cli'
import { tutorSchema } from './src/schema.ts'

export default defineConfig({
  schema: tutorSchema(),
  docs: { page: 'README.md' },
})

import { defineConfig } from '@keyspec/cli'
import { all } from './src/schema.ts'

export default defineConfig({ schema: all, check: { alike: ['num_pdf_attachment_done'] } })

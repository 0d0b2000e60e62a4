import { defineConfig } from '@keyspec/cli'
import { mirrulations } from './src/schema.ts'

export default defineConfig({
  schema: mirrulations,
  docs: { page: 'README.md' },
  // What an old program wrote beside num_pdf_attachments_done.
  check: { alike: ['num_pdf_attachment_done'] },
})

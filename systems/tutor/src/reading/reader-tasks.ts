import { pdfText } from '@keyspec-systems/reading/pdf'
import { extractHtml } from '../web/extract.ts'

/** What a process that reads can be asked for. */
export const tasks = { pdf: pdfText, html: extractHtml }

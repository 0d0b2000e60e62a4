import { extractText } from './extract-text.ts'

/** What a process that reads can be asked for. */
export const tasks = { text: extractText }

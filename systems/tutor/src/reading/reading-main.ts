import { serveReader } from '@keyspec-systems/reading/serve'
import { tasks } from './reader-tasks.ts'

// A process that reads what strangers wrote, one document at a time; reader.ts starts it.
serveReader(tasks)

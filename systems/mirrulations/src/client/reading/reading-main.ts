import { serveReader } from '@keyspec-systems/reading/serve'
import { tasks } from './reader-tasks.ts'

// A process that reads the files of strangers, one at a time; reader.ts starts it.
serveReader(tasks)

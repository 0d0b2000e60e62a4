#!/usr/bin/env node
// Stands here, not in dist, so that npm can link the command before anything is built.
import { main } from '../dist/main.js'

await main()

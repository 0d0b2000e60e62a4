#!/usr/bin/env node
// Stands here, not in lib, so that npm can link the command before anything is built.
import module from 'node:module'

// From Node 22.1 on: what was compiled for one run serves the next.
module.enableCompileCache?.()
const { main } = await import('../lib/main.js')
await main()

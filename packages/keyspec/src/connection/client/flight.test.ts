import { expect, test } from 'vitest'
import type { Command } from '../connection.ts'
import { blockMsOf } from './flight.ts'

test.each<[Command, number | undefined]>([
  [['BLPOP', 'a', 'b', '1.5'], 1500],
  [['BLMOVE', 'a', 'b', 'LEFT', 'RIGHT', '2'], 2000],
  [['BZPOPMIN', 'a', '0.25'], 250],
  [['BLMPOP', '3', '1', 'a', 'LEFT'], 3000],
  [['BZMPOP', '3', '1', 'a', 'MIN'], 3000],
  [['XREAD', 'COUNT', '5', 'BLOCK', '700', 'STREAMS', 'a', '$'], 700],
  [['XREADGROUP', 'GROUP', 'g', 'c', 'block', '700', 'STREAMS', 'a', '>'], 700],
  [['XREAD', 'BLOCK', '0', 'STREAMS', 'a', '$'], undefined],
  [['XREAD', 'STREAMS', 'a', '5'], undefined],
  [['BLPOP', 'a', '0'], undefined],
  [['WAIT', '1', '100'], 100],
  [['WAITAOF', '1', '1', '100'], 100],
  [['WAIT', '1', '0'], undefined],
  [['CLIENT', 'INFO'], 0],
])('%j waits on the server for %s ms', (command, ms) => {
  expect(blockMsOf(command)).toBe(ms)
})

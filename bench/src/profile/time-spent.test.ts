import { expect, test } from 'vitest'
import { timeSpent } from './time-spent.ts'

const NATIVE = -1

function node(
  id: number,
  functionName: string,
  url: string,
  hitCount: number,
  children: number[] = [],
  lineNumber = url === '' ? NATIVE : 9,
) {
  return {
    id,
    callFrame: { functionName, scriptId: '0', url, lineNumber, columnNumber: 0 },
    hitCount,
    children,
  }
}

test('samples are counted by whose code they are in', () => {
  const { shares } = timeSpent({
    startTime: 0,
    endTime: 1,
    nodes: [
      node(1, '(root)', '', 0, [2, 3, 4, 5, 6, 7, 8, 9]),
      node(2, '(idle)', '', 10),
      node(3, '(garbage collector)', '', 5),
      node(4, 'take', 'file:///here/packages/keyspec/lib/recipes.js', 20),
      node(5, 'write', 'file:///here/bench/node_modules/@redis/client/dist/socket.js', 15),
      node(6, 'validate', 'file:///here/bench/node_modules/@ark/schema/out/root.js', 10, [10]),
      node(7, 'parse', 'file:///here/bench/dist/profile/sampled.js', 10),
      node(8, 'one', 'file:///here/bench/dist/round.js', 5),
      node(9, 'writev', '', 20),
      node(10, 'compiled', '', 5, [], 3),
    ],
  })
  expect(shares).toEqual({
    idle: 10,
    'garbage collector': 5,
    Keyspec: 20,
    'client library': 15,
    validator: 15,
    JSON: 10,
    measuring: 5,
    Node: 20,
  })
})

test('a function counts once, whoever calls it, and waiting is none', () => {
  const url = 'file:///here/bench/node_modules/left/pad.js'
  const { functions } = timeSpent({
    startTime: 0,
    endTime: 1,
    nodes: [
      node(1, '(root)', '', 0, [2, 3, 4]),
      node(2, 'pad', url, 1),
      node(3, '', url, 1, [5]),
      node(4, '(idle)', '', 6),
      node(5, 'pad', url, 2),
    ],
  })
  expect(functions).toEqual([
    { name: 'pad', file: 'left/pad.js:10', share: 30 },
    { name: '(anonymous)', file: 'left/pad.js:10', share: 10 },
  ])
})

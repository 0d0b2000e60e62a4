// @ts-check
// The mutants of a Lua script: small changes of behaviour, each of which some test should notice.
import { parse } from 'luaparse'

/**
 * A change of one place of a file. `start` and `end` are offsets into its text.
 * @typedef {{ start: number, end: number, replacement: string }} Change
 */

/** What each operator becomes. */
const OPERATORS = /** @type {const} */ ({
  '<': ['<=', '>='],
  '<=': ['<', '>'],
  '>': ['>=', '<='],
  '>=': ['>', '<'],
  '==': ['~='],
  '~=': ['=='],
  '+': ['-'],
  '-': ['+'],
  '*': ['/'],
  '/': ['*'],
  '%': ['*'],
  and: ['or'],
  or: ['and'],
})

/** Options of commands that have an opposite. */
const OPPOSITES = new Map([
  ['NX', 'XX'],
  ['XX', 'NX'],
  ['GT', 'LT'],
  ['LT', 'GT'],
  ['PX', 'EX'],
])

/**
 * Returns the mutants of a script, in the order of their places.
 * @param {string} lua
 * @returns {Change[]}
 */
export function mutantsOf(lua) {
  const chunk = /** @type {any} */ (parse(lua, { luaVersion: '5.1', ranges: true, comments: false }))
  /** @type {Map<string, Change>} */
  const found = new Map()
  /** @param {number} start @param {number} end @param {string} replacement */
  const add = (start, end, replacement) => {
    if (lua.slice(start, end) !== replacement) {
      found.set(`${start}-${end} ${replacement}`, { start, end, replacement })
    }
  }
  visit(chunk, undefined, (node, parent) => mutate(lua, node, parent, add))
  return [...found.values()].sort((a, b) => a.start - b.start || a.end - b.end)
}

/**
 * @param {any} node
 * @param {any} parent
 * @param {(node: any, parent: any) => void} see
 */
function visit(node, parent, see) {
  if (node === null || typeof node !== 'object') return
  if (Array.isArray(node)) {
    for (const each of node) visit(each, parent, see)
    return
  }
  if (typeof node.type === 'string') see(node, parent)
  for (const [name, value] of Object.entries(node)) {
    if (name !== 'range' && name !== 'globals') visit(value, node, see)
  }
}

/**
 * @param {string} lua
 * @param {any} node
 * @param {any} parent
 * @param {(start: number, end: number, replacement: string) => void} add
 */
function mutate(lua, node, parent, add) {
  const [start, end] = node.range
  switch (node.type) {
    case 'BinaryExpression':
    case 'LogicalExpression':
      for (const operator of OPERATORS[/** @type {keyof typeof OPERATORS} */ (node.operator)] ?? []) {
        const [from, to] = [node.left.range[1], node.right.range[0]]
        const between = lua.slice(from, to).replace(node.operator, operator)
        add(start, end, lua.slice(start, from) + between + lua.slice(to, end))
      }
      return
    case 'UnaryExpression':
      if (node.operator !== '#') add(start, end, lua.slice(node.argument.range[0], end))
      return
    case 'NumericLiteral':
      if (parent.type !== 'UnaryExpression') add(start, end, String(node.value + 1))
      return
    case 'BooleanLiteral':
      add(start, end, String(!node.value))
      return
    case 'StringLiteral':
      if (!isCommand(node, parent)) add(start, end, otherText(lua.slice(start + 1, end - 1)))
      return
    case 'IfClause':
    case 'ElseifClause':
      for (const value of ['true', 'false']) add(node.condition.range[0], node.condition.range[1], value)
      return
    case 'WhileStatement':
      add(node.condition.range[0], node.condition.range[1], 'false')
      return
    case 'CallStatement':
    case 'AssignmentStatement':
      add(start, end, 'do end')
      return
    case 'ReturnStatement':
      // The last of the whole script only says what it answers; one within a block also ends it early.
      if (parent.type !== 'Chunk') add(start, end, 'do end')
      return
    default:
  }
}

/**
 * Whether a literal names the command of a call: another name is an error wherever the line is run at all.
 * @param {any} node
 * @param {any} parent
 */
function isCommand(node, parent) {
  return (
    parent.type === 'CallExpression' &&
    parent.arguments[0] === node &&
    parent.base.type === 'MemberExpression' &&
    parent.base.base.name === 'redis'
  )
}

/** @param {string} text */
function otherText(text) {
  const opposite = OPPOSITES.get(text.toUpperCase())
  if (opposite !== undefined) return `'${opposite}'`
  if (/^-?\d+$/.test(text)) return `'${Number(text) + 1}'`
  return text === '' ? "'mutant'" : "''"
}

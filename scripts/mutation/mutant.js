// @ts-check
// A mutant: one change of one place of a file.

/**
 * `at` is the line it begins on, without the space around it, by which a mutant is known whatever stands above it.
 * @typedef {{
 *   file: string, line: number, lastLine: number, at: string, original: string, replacement: string,
 *   start: number, end: number
 * }} Mutant
 */

/** A mutant that was tried; without `killedBy` every test passed. @typedef {{ mutant: Mutant, killedBy?: string }} Outcome */

/**
 * Returns the mutant that a change of a file's text makes.
 * @param {string} file
 * @param {string} text
 * @param {{ start: number, end: number, replacement: string }} change
 * @returns {Mutant}
 */
export function mutantAt(file, text, { start, end, replacement }) {
  const line = lineOf(text, start)
  const at = text.split('\n')[line - 1]?.trim() ?? ''
  return {
    file,
    line,
    lastLine: lineOf(text, end),
    at,
    original: text.slice(start, end),
    replacement,
    start,
    end,
  }
}

/**
 * Returns what identifies a mutant where its line may move.
 * @param {{ file: string, at: string, original: string, replacement: string }} mutant
 */
export function identity({ file, at, original, replacement }) {
  return JSON.stringify([file, at, original, replacement])
}

/** @param {string} text @param {number} offset */
function lineOf(text, offset) {
  return text.slice(0, offset).split('\n').length
}

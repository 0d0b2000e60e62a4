/** What begins the part of a Markdown file that `keyspec docs` writes. */
export const BEGIN = '<!-- keyspec:begin -->'

/** What ends it. */
export const END = '<!-- keyspec:end -->'

/** Where the generated part of a file stands. */
export interface Block {
  readonly before: string
  readonly after: string
  /** The level of the heading that it stands under; `undefined` where there is none. */
  readonly level: number | undefined
}

/** The generated part of a Markdown file, or `undefined` where it has no place for one. */
export function blockIn(text: string): Block | undefined {
  const begin = text.indexOf(BEGIN)
  const end = text.indexOf(END, begin + BEGIN.length)
  if (begin === -1 || end === -1) return undefined
  const before = text.slice(0, begin)
  // A # in a block of code is a comment of another language.
  const prose = before.replaceAll(/^(```|~~~)[\s\S]*?^\1/gm, '')
  const last = [...prose.matchAll(/^(#{1,6}) /gm)].at(-1)
  return { before, after: text.slice(end + END.length), level: last?.[1]!.length }
}

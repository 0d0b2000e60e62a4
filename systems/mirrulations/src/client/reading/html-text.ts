import { Tokenizer, type TokenizerCallbacks } from 'htmlparser2'

// What stands between these is not for readers.
const HIDDEN: ReadonlySet<string> = new Set(['script', 'style', 'head'])
const BLOCKS: ReadonlySet<string> = new Set(
  'p div h1 h2 h3 h4 h5 h6 li tr br table ul ol section article'.split(' '),
)

/**
 * The text of an HTML page that a reader would see, a line for each block. A tokenizer reads it once from the beginning to
 * the end and keeps no tree, so that the time it takes grows with the size of the page alone.
 */
export function htmlText(html: string): string {
  const parts: string[] = []
  let hidden: string | undefined
  const nameAt = (start: number, end: number) => html.slice(start, end).toLowerCase()
  const mark = (name: string) => {
    if (hidden === undefined) parts.push(BLOCKS.has(name) ? '\n' : ' ')
  }
  const nothing = () => {}
  const callbacks: TokenizerCallbacks = {
    ontext: (start, end) => void (hidden === undefined && parts.push(html.slice(start, end))),
    ontextentity: (codepoint) => void (hidden === undefined && parts.push(String.fromCodePoint(codepoint))),
    onopentagname(start, end) {
      const name = nameAt(start, end)
      mark(name)
      if (HIDDEN.has(name)) hidden ??= name
    },
    onclosetag(start, end) {
      const name = nameAt(start, end)
      if (name === hidden) hidden = undefined
      mark(name)
    },
    onattribdata: nothing,
    onattribentity: nothing,
    onattribend: nothing,
    onattribname: nothing,
    oncdata: nothing,
    oncomment: () => mark(''),
    ondeclaration: nothing,
    onend: nothing,
    onopentagend: nothing,
    onprocessinginstruction: nothing,
    onselfclosingtag: nothing,
  }
  const tokenizer = new Tokenizer({ decodeEntities: true }, callbacks)
  tokenizer.write(html)
  tokenizer.end()
  return parts
    .join('')
    .split('\n')
    .map((line) => line.replaceAll(/\s+/g, ' ').trim())
    .filter((line) => line !== '')
    .join('\n')
}

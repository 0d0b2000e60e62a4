import { Readability } from '@mozilla/readability'
import { parseHTML } from 'linkedom'

/** What a page says, without its menus and markup. */
export interface Extracted {
  readonly title: string
  /** Paragraphs, apart by blank lines. */
  readonly content: string
}

/** The main content of an HTML page, as Firefox's reader view finds it; the whole body where that finds nothing. */
export function extractHtml(html: string): Extracted {
  const whole = /<html[\s>]/i.test(html) ? html : `<!DOCTYPE html><html><body>${html}</body></html>`
  const { document } = parseHTML(whole)
  const title = tidy(document.querySelector('title')?.textContent ?? '')
  const article = new Readability(document, { charThreshold: 200 }).parse()
  // Readability takes the document apart: what it leaves must be parsed anew.
  const body = parseHTML(article?.content ? `<html><body>${article.content}</body></html>` : whole).document
  for (const element of body.querySelectorAll('script, style, noscript, template, nav, svg')) element.remove()
  return { title: tidy(article?.title ?? '') || title, content: textOf(body.body) }
}

interface NodeLike {
  readonly nodeType: number
  readonly nodeName: string
  readonly textContent: string | null
  readonly childNodes: Iterable<NodeLike>
}

const blocks = new Set(
  'ADDRESS ARTICLE ASIDE BLOCKQUOTE BR DD DIV DL DT FIGCAPTION FIGURE FOOTER H1 H2 H3 H4 H5 H6 HEADER HR LI MAIN OL P PRE SECTION TABLE TR UL'.split(
    ' ',
  ),
)

const TEXT = 3

function textOf(root: NodeLike): string {
  const parts: string[] = []
  const visit = (node: NodeLike) => {
    if (node.nodeType === TEXT) parts.push((node.textContent ?? '').replaceAll(/\s+/g, ' '))
    const isBlock = blocks.has(node.nodeName.toUpperCase())
    if (isBlock) parts.push('\n')
    for (const child of node.childNodes) visit(child)
    if (isBlock) parts.push('\n')
    else if (/^T[DH]$/i.test(node.nodeName)) parts.push(' ')
  }
  visit(root)
  const lines = parts
    .join('')
    .split('\n')
    .map((line) => line.replaceAll(/ +/g, ' ').trim())
  return lines.filter((line) => line !== '').join('\n\n')
}

function tidy(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim()
}

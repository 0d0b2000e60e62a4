/**
 * The text of a file that a reader would see, for those formats that hold it as text: plain text, and HTML without its
 * tags, scripts and styles. `undefined` for any other format: those need a program of their own.
 */
export function extractText(name: string, body: Buffer): string | undefined {
  const extension = /\.([a-z]+)$/i.exec(name)?.[1]?.toLowerCase()
  const text = body.toString('utf8')
  if (extension === 'txt') return text
  if (extension !== 'htm' && extension !== 'html') return undefined
  return text
    .replaceAll(/<!--[\s\S]*?-->|<(script|style|head)\b[\s\S]*?<\/\1\s*>/gi, ' ')
    .replaceAll(/<\/?(?:p|div|h[1-6]|li|tr|br|table|ul|ol|section|article)\b[^>]*>/gi, '\n')
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll(/&(lt|gt|amp|quot|apos|nbsp|#\d+|#x[0-9a-f]+);/gi, (_, name: string) =>
      character(name.toLowerCase()),
    )
    .replaceAll(/[^\S\n]+/g, ' ')
    .replaceAll(/\s*\n\s*/g, '\n')
    .trim()
}

/** Where the text of a stored file belongs: `<agency>/<docket>/text-<docket>/<kind>_extracted_text/plain/<name>_extracted.txt`. */
export function extractedPath(directory: string): string | undefined {
  const [, agency, docket, kind, name] =
    /^([^/]+)\/([^/]+)\/binary-[^/]+\/([a-z]+)_attachments\/([^/]+)$/.exec(directory) ?? []
  if (agency === undefined) return undefined
  return `${agency}/${docket}/text-${docket}/${kind}_extracted_text/plain/${name!.replace(/\.[^.]*$/, '')}_extracted.txt`
}

function character(name: string): string {
  const named: Readonly<Record<string, string>> = {
    lt: '<',
    gt: '>',
    amp: '&',
    quot: '"',
    apos: "'",
    nbsp: ' ',
  }
  const code = name.startsWith('#x') ? Number.parseInt(name.slice(2), 16) : Number(name.slice(1))
  return named[name] ?? (code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : ' ')
}

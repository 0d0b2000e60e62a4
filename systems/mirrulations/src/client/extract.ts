import { htmlText } from './html-text.ts'

/**
 * The text of a file that a reader would see, for those formats that hold it as text: plain text, and HTML without its
 * tags, scripts and styles. `undefined` for any other format: those need a program of their own.
 */
export function extractText(name: string, body: Buffer): string | undefined {
  const extension = /\.([a-z]+)$/i.exec(name)?.[1]?.toLowerCase()
  const text = body.toString('utf8')
  if (extension === 'txt') return text
  if (extension !== 'htm' && extension !== 'html') return undefined
  return htmlText(text)
}

/** Where the text of a stored file belongs: `<agency>/<docket>/text-<docket>/<kind>_extracted_text/plain/<name>_extracted.txt`. */
export function extractedPath(directory: string): string | undefined {
  const [, agency, docket, kind, name] =
    /^([^/]+)\/([^/]+)\/binary-[^/]+\/([a-z]+)_attachments\/([^/]+)$/.exec(directory) ?? []
  if (agency === undefined) return undefined
  return `${agency}/${docket}/text-${docket}/${kind}_extracted_text/plain/${name!.replace(/\.[^.]*$/, '')}_extracted.txt`
}

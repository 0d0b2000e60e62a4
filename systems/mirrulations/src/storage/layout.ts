import type { Kind } from '../upstream/record-kind.ts'

/** What of a record decides where it is stored. */
export interface Placed {
  readonly kind: Kind
  readonly id: string
  readonly agencyId: string | undefined
  readonly docketId: string | undefined
}

/** Where a record's JSON stands, relative to the store: `<agency>/<docket>/text-<docket>/<kind>/<id>.json`. */
export function jsonPath(record: Placed): string {
  const docket = docketOf(record)
  const folder = record.kind === 'dockets' ? 'docket' : record.kind
  return `${agencyOf(record)}/${docket}/text-${docket}/${folder}/${record.id}.json`
}

/**
 * Where a record's files stand, in their order: `<agency>/<docket>/binary-<docket>/<kind>_attachments/<id>_<name>`, but a
 * document's own HTML beside its JSON as `<id>_content.htm`, where text is looked for.
 */
export function filePaths(record: Placed, urls: readonly string[]): string[] {
  const docket = docketOf(record)
  const branch = `${agencyOf(record)}/${docket}`
  const taken = new Set<string>()
  return urls.map((url) => {
    const name = fileName(url)
    const isText = record.kind === 'documents' && /^content\.html?$/i.test(name)
    const folder = isText ? `text-${docket}/documents` : `binary-${docket}/${record.kind}_attachments`
    let path = `${branch}/${folder}/${record.id}_${name}`
    for (let copy = 1; taken.has(path.toLowerCase()); copy += 1) {
      path = `${branch}/${folder}/${record.id}_${name.replace(/(\.[^.]*)?$/, `(${copy})$1`)}`
    }
    taken.add(path.toLowerCase())
    return path
  })
}

/** Where the text of a stored file belongs: `<agency>/<docket>/text-<docket>/<kind>_extracted_text/plain/<name>_extracted.txt`. */
export function extractedPath(directory: string): string | undefined {
  const [, agency, docket, kind, name] =
    /^([^/]+)\/([^/]+)\/binary-[^/]+\/([a-z]+)_attachments\/([^/]+)$/.exec(directory) ?? []
  if (agency === undefined) return undefined
  return `${agency}/${docket}/text-${docket}/${kind}_extracted_text/plain/${name!.replace(/\.[^.]*$/, '')}_extracted.txt`
}

// A record of an agency that left its docket out belongs to the docket that its own id begins with.
function docketOf({ kind, id, docketId }: Placed): string {
  if (kind === 'dockets') return id
  return docketId ?? (id.slice(0, Math.max(0, id.lastIndexOf('-'))) || 'unknown')
}

function agencyOf({ agencyId }: Placed): string {
  return agencyId ?? 'unknown'
}

function fileName(url: string): string {
  const last = URL.canParse(url) ? (new URL(url).pathname.split('/').at(-1) ?? '') : ''
  // What a URL escapes, and what else no stored name has, becomes an underscore.
  return last.replaceAll(/%[0-9A-Fa-f]{2}|[^A-Za-z0-9._()-]/g, '_').slice(-100) || 'file'
}

import { deflateSync } from 'node:zlib'

/** What a reader of these documents may take, where it is to end soon; the memory is about what it needs for itself. */
export const shortly = { deadlineMs: 2_000 }
export const tightly = { deadlineMs: 25_000, maxResidentBytes: 220 * 1024 * 1024 }

/** A PDF of these objects, the first of which is its catalogue. */
export function pdfOf(objects: readonly (string | Buffer)[]): Buffer {
  const parts: Buffer[] = [Buffer.from('%PDF-1.4\n')]
  let length = parts[0]!.length
  const offsets = objects.map((object, at) => {
    const part = Buffer.concat([
      Buffer.from(`${at + 1} 0 obj\n`),
      Buffer.from(object),
      Buffer.from('\nendobj\n'),
    ])
    const offset = length
    parts.push(part)
    length += part.length
    return `${String(offset).padStart(10, '0')} 00000 n \n`
  })
  const table = `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${offsets.join('')}`
  const trailer = `trailer << /Size ${objects.length + 1} /Root 1 0 R >>\nstartxref\n${length}\n%%EOF`
  return Buffer.concat([...parts, Buffer.from(table + trailer)])
}

/** A stream of a PDF. */
export function pdfStream(body: Uint8Array, dictionary = ''): Buffer {
  return Buffer.concat([
    Buffer.from(`<< ${dictionary} /Length ${body.byteLength} >>\nstream\n`),
    body,
    Buffer.from('\nendstream'),
  ])
}

/** A PDF of one page with this content, and more objects from number 5 on. */
export function pdfPage(content: Buffer, resources = '', more: readonly (string | Buffer)[] = []): Buffer {
  const page = `/Parent 2 0 R /MediaBox [0 0 612 792] /Resources << ${resources} >> /Contents 4 0 R`
  return pdfOf([
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    `<< /Type /Page ${page} >>`,
    content,
    ...more,
  ])
}

/** Less than 1 kB that unpacks to 160 MB. */
export function pdfBomb(): Buffer {
  const spaces = deflateSync(deflateSync(Buffer.alloc(160_000_000, 32)))
  return pdfPage(pdfStream(spaces, '/Filter [/FlateDecode /FlateDecode]'))
}

/** A page that draws two drawings, each of which draws two, thirty deep. */
export function pdfOfManyForms(): Buffer {
  const twice = Buffer.from('/A Do /A Do')
  const forms = Array.from({ length: 30 }, (_, at) =>
    pdfStream(
      twice,
      `/Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << /XObject << /A ${at + 6} 0 R >> >>`,
    ),
  )
  return pdfPage(pdfStream(twice), '/XObject << /A 5 0 R >>', forms)
}

/** Elements within each other: looking for the content of such a page takes time by the square and worse. */
export const nestedHtml = '<div>'.repeat(200_000)

/** A small valid file of a format that agencies publish: one page that says `lines`. */
export function inventedFile(format: string, lines: readonly string[]): Buffer {
  switch (format) {
    case 'pdf':
      return pdf(lines)
    case 'docx':
      return docx(lines)
    case 'htm':
      return Buffer.from(
        `<!DOCTYPE html>\n<html><head><meta charset="utf-8"><title>${xml(lines[0] ?? '')}</title></head>\n<body>\n` +
          `${lines.map((line) => `<p>${xml(line)}</p>`).join('\n')}\n</body></html>\n`,
      )
    default:
      return Buffer.from(`${lines.join('\n')}\n`)
  }
}

/** The media type of a format that `inventedFile` writes. */
export function mediaType(format: string): string {
  return mediaTypes[format] ?? 'text/plain; charset=utf-8'
}

const mediaTypes: Readonly<Record<string, string>> = {
  pdf: 'application/pdf',
  docx: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  htm: 'text/html; charset=utf-8',
}

// ISO 32000-1, 7.5: header, objects, cross-reference table with the offset of each, trailer.
function pdf(lines: readonly string[]): Buffer {
  const shown = lines.map((line) => `(${line.replaceAll(/[^ -~]/g, '?').replaceAll(/[\\()]/g, '\\$&')}) '`)
  const content = `BT /F1 11 Tf 14 TL 72 720 Td\n${shown.join('\n')}\nET`
  const objects = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 5 0 R /Resources << /Font << /F1 4 0 R >> >> >>',
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
    `<< /Length ${content.length} >>\nstream\n${content}\nendstream`,
  ]
  let text = '%PDF-1.4\n'
  let table = `0000000000 65535 f \n`
  for (const [index, body] of objects.entries()) {
    table += `${String(text.length).padStart(10, '0')} 00000 n \n`
    text += `${index + 1} 0 obj\n${body}\nendobj\n`
  }
  const size = objects.length + 1
  const trailer = `trailer\n<< /Size ${size} /Root 1 0 R >>\nstartxref\n${text.length}\n%%EOF\n`
  return Buffer.from(`${text}xref\n0 ${size}\n${table}${trailer}`, 'latin1')
}

// ECMA-376: the three parts that a word processor needs.
function docx(lines: readonly string[]): Buffer {
  const head = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
  const office = 'http://schemas.openxmlformats.org'
  const paragraphs = lines.map((line) => `<w:p><w:r><w:t xml:space="preserve">${xml(line)}</w:t></w:r></w:p>`)
  return zip({
    '[Content_Types].xml':
      `${head}<Types xmlns="${office}/package/2006/content-types">` +
      '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>' +
      `<Override PartName="/word/document.xml" ContentType="${mediaTypes['docx']}.main+xml"/></Types>`,
    '_rels/.rels':
      `${head}<Relationships xmlns="${office}/package/2006/relationships"><Relationship Id="rId1" ` +
      `Type="${office}/officeDocument/2006/relationships/officeDocument" Target="word/document.xml"/></Relationships>`,
    'word/document.xml':
      `${head}<w:document xmlns:w="${office}/wordprocessingml/2006/main"><w:body>` +
      `${paragraphs.join('')}</w:body></w:document>`,
  })
}

// APPNOTE 6.3.3, sections 4.3.7, 4.3.12 and 4.3.16: entries stored without compression.
function zip(entries: Readonly<Record<string, string>>): Buffer {
  const files: Buffer[] = []
  const directory: Buffer[] = []
  let offset = 0
  for (const [path, text] of Object.entries(entries)) {
    const name = Buffer.from(path)
    const data = Buffer.from(text)
    const common = Buffer.alloc(26)
    common.writeUInt16LE(20, 0)
    common.writeUInt16LE(0x21, 8)
    common.writeUInt32LE(crc32(data), 10)
    common.writeUInt32LE(data.length, 14)
    common.writeUInt32LE(data.length, 18)
    common.writeUInt16LE(name.length, 22)
    const file = Buffer.concat([Buffer.from('PK\x03\x04'), common, name, data])
    const place = Buffer.alloc(14)
    place.writeUInt32LE(offset, 10)
    directory.push(Buffer.from('PK\x01\x02\x14\x00'), common, place, name)
    files.push(file)
    offset += file.length
  }
  const listed = Buffer.concat(directory)
  const end = Buffer.alloc(18)
  end.writeUInt16LE(files.length, 4)
  end.writeUInt16LE(files.length, 6)
  end.writeUInt32LE(listed.length, 8)
  end.writeUInt32LE(offset, 12)
  return Buffer.concat([...files, listed, Buffer.from('PK\x05\x06'), end])
}

function crc32(data: Uint8Array): number {
  let crc = 0xffffffff
  for (const byte of data) {
    crc ^= byte
    for (let bit = 0; bit < 8; bit += 1) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1
  }
  return (crc ^ 0xffffffff) >>> 0
}

function xml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
}

/** Decodes a page as its `Content-Type` says, else as its `<meta charset>` does, else as UTF-8. */
export function decodeText(body: Uint8Array, contentType: string): string {
  const head = Buffer.from(body.subarray(0, 2048)).toString('latin1')
  const declared = /charset\s*=\s*["']?([\w-]+)/i
  const label = declared.exec(contentType)?.[1] ?? declared.exec(/<meta[^<>]+>/i.test(head) ? head : '')?.[1]
  try {
    return new TextDecoder(label ?? 'utf-8').decode(body)
  } catch {
    // A charset that nobody knows.
    return new TextDecoder('utf-8').decode(body)
  }
}

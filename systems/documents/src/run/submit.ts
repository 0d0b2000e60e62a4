import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { basename, extname, join, resolve } from 'node:path'
import { beginBatch } from '../batch/batch.ts'
import type { Documents } from '../keyspace.ts'
import type { BatchManifest } from '../pipeline/batch-manifest.ts'
import type { Broker } from '../worker/broker.ts'

const mediaTypes: Readonly<Record<string, BatchManifest['documents'][number]['media_type']>> = {
  '.pdf': 'application/pdf',
  '.txt': 'text/plain',
}

/** The documents of a folder: every PDF and every text in it, by name. */
export async function documentsIn(folder: string): Promise<string[]> {
  const names = await readdir(folder)
  return names
    .filter((name) => extname(name).toLowerCase() in mediaTypes)
    .toSorted()
    .map((name) => resolve(join(folder, name)))
}

/** Begins a batch of files and queues each. A file that stands twice is one document: its id is that of its bytes. */
export async function submit(
  keys: Documents,
  broker: Broker,
  batchId: string,
  paths: readonly string[],
): Promise<BatchManifest> {
  const files = new Map<
    string,
    { readonly path: string; readonly document: BatchManifest['documents'][number] }
  >()
  for (const path of paths) {
    const media_type = mediaTypes[extname(path).toLowerCase()]
    if (media_type === undefined) throw new Error(`${path} is neither a .pdf nor a .txt`)
    const bytes = await readFile(path)
    const document_uuid = uuidOf(bytes)
    const document = { document_uuid, name: basename(path), media_type, bytes: bytes.length }
    files.set(document_uuid, { path, document })
  }
  const documents = [...files.values()].map(({ document }) => document)
  const manifest: BatchManifest = { batch_id: batchId, created_at: new Date().toISOString(), documents }
  await beginBatch(keys, manifest)
  for (const { path, document } of files.values()) {
    const { document_uuid, name, media_type } = document
    await broker.begin({ batch_id: batchId, path, document_uuid, name, media_type })
  }
  return manifest
}

/** The first bits of a SHA-256 in the form of a UUID of version 8 (RFC 9562), which is for such ids. */
function uuidOf(bytes: Uint8Array): string {
  const hex = createHash('sha256').update(bytes).digest('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}

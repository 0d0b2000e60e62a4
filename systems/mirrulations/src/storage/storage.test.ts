import { mkdtemp, readdir, readFile, rm, symlink, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterEach, beforeEach, describe, expect, test } from 'vitest'

import { bucketSize } from '../server/bucket-size.ts'
import { filePaths, jsonPath } from './layout.ts'
import { relativeDirectory, safePath, UnsafePathError } from './safe-path.ts'
import { openStore, type Store } from './store.ts'

describe('the layout', () => {
  const docket = { kind: 'dockets', id: 'USTR-2015-0010', agencyId: 'USTR', docketId: undefined } as const
  const document = {
    kind: 'documents',
    id: 'USTR-2015-0010-0001',
    agencyId: 'USTR',
    docketId: docket.id,
  } as const
  const comment = {
    kind: 'comments',
    id: 'USTR-2015-0010-0002',
    agencyId: 'USTR',
    docketId: docket.id,
  } as const

  test('puts JSON by agency, docket and kind', () => {
    const text = 'USTR/USTR-2015-0010/text-USTR-2015-0010'
    expect(jsonPath(docket)).toBe(`${text}/docket/USTR-2015-0010.json`)
    expect(jsonPath(document)).toBe(`${text}/documents/USTR-2015-0010-0001.json`)
    expect(jsonPath(comment)).toBe(`${text}/comments/USTR-2015-0010-0002.json`)
  })

  test('puts files beside it, and the HTML of a document with the text', () => {
    const binary = 'USTR/USTR-2015-0010/binary-USTR-2015-0010'
    expect(
      filePaths(comment, ['https://downloads.regulations.gov/USTR-2015-0010-0002/attachment_1.pdf']),
    ).toEqual([`${binary}/comments_attachments/USTR-2015-0010-0002_attachment_1.pdf`])
    expect(
      filePaths(document, ['https://x.example/a/content.pdf', 'https://x.example/a/content.htm']),
    ).toEqual([
      `${binary}/documents_attachments/USTR-2015-0010-0001_content.pdf`,
      'USTR/USTR-2015-0010/text-USTR-2015-0010/documents/USTR-2015-0010-0001_content.htm',
    ])
  })

  test('finds the docket in the id where the agency left it out', () => {
    expect(jsonPath({ ...comment, docketId: undefined })).toBe(jsonPath(comment))
    expect(jsonPath({ kind: 'comments', id: 'odd', agencyId: undefined, docketId: undefined })).toBe(
      'unknown/unknown/text-unknown/comments/odd.json',
    )
  })

  test('gives two files of one name two places, and odd names safe ones', () => {
    const names = filePaths(comment, [
      'http://x/a.pdf',
      'http://y/a.pdf',
      'http://x/a%2F..%2Fb c.pdf',
      'http://x/',
      'x',
    ]).map((path) => path.split('_').slice(2).join('_'))
    expect(new Set(names).size).toBe(5)
    expect(names.slice(0, 3)).toEqual(['a.pdf', 'a(1).pdf', 'a_.._b_c.pdf'])
  })
})

describe('a safe path', () => {
  test.each(['EPA/E-1/text-E-1/docket/E-1.json', 'a', 'A(1)/b_c.d-e'])('is %s', (path) => {
    expect(safePath('/data', path)).toBe(`/data/${path}`)
  })

  test.each([
    ['', 'empty'],
    ['/etc/passwd', 'absolute'],
    ['C:/windows', 'absolute'],
    ['\\\\host\\share', 'absolute'],
    ['..', 'dot'],
    ['EPA/../../etc', 'dot'],
    ['EPA/./x', 'dot'],
    ['EPA/.hidden', 'dot'],
    ['EPA//x', 'empty'],
    ['EPA/x/', 'empty'],
    ['EPA/a\0b', 'only letters'],
    ['EPA/a\nb', 'only letters'],
    ['EPA/..\\..\\x', 'dot'],
    ['EPA/a b', 'only letters'],
    ['EPA/é', 'only letters'],
    ['EPA/%2e%2e/x', 'only letters'],
    [`EPA/${'x'.repeat(201)}`, 'longer'],
    ['a/b/c/d/e/f/g', 'parts'],
  ])('is not %j', (path, why) => {
    expect(() => safePath('/data', path)).toThrow(UnsafePathError)
    expect(() => safePath('/data', path)).toThrow(why)
  })

  test('may be written from the root of the store, but only in the form of the layout', () => {
    expect(relativeDirectory('/EPA/E-1/text-E-1/docket/E-1.json')).toBe('EPA/E-1/text-E-1/docket/E-1.json')
    expect(relativeDirectory('/EPA/E-1/binary-E-1/x')).toBe('EPA/E-1/binary-E-1/x')
    expect(relativeDirectory('EPA/E-1/text-E-1/docket')).toBe('EPA/E-1/text-E-1/docket')
    for (const path of ['/etc/passwd', '/EPA/E-1/text-E-2/x', '//E-1/text-E-1', '/EPA//text-']) {
      expect(relativeDirectory(path)).toBe(path)
      expect(() => safePath('/data', relativeDirectory(path))).toThrow('absolute')
    }
  })
})

describe('a store', () => {
  let root: string
  let store: Store

  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'store-'))
    store = await openStore(join(root, 'data'))
  })

  afterEach(() => rm(root, { recursive: true }))

  test('writes text, bytes and streams, and says how many bytes', async () => {
    expect(await store.write('EPA/a.json', '{"é":1}')).toBe(8)
    expect(await store.write('EPA/b.bin', new Uint8Array([0, 255]))).toBe(2)
    expect(await store.write('EPA/c.bin', chunks(['one', 'two']))).toBe(6)
    expect(await store.write('EPA/d.bin', '')).toBe(0)
    expect(await readFile(join(root, 'data/EPA/a.json'), 'utf8')).toBe('{"é":1}')
    expect(await readFile(join(root, 'data/EPA/b.bin'))).toEqual(Buffer.from([0, 255]))
    expect(await readFile(join(root, 'data/EPA/c.bin'), 'utf8')).toBe('onetwo')
    expect((await readdir(join(root, 'data/EPA'))).toSorted()).toEqual(['a.json', 'b.bin', 'c.bin', 'd.bin'])
  })

  test('keeps the older file, and nothing else, when a body breaks off', async () => {
    await store.write('EPA/a.txt', 'old')
    await expect(store.write('EPA/a.txt', chunks(['new', new Error('cut')]))).rejects.toThrow('cut')
    expect(await readFile(join(root, 'data/EPA/a.txt'), 'utf8')).toBe('old')
    expect(await readdir(join(root, 'data/EPA'))).toEqual(['a.txt'])
  })

  test('has one whole version when many write at once', async () => {
    const versions = Array.from({ length: 20 }, (_, index) => String(index).repeat(10_000))
    await Promise.all(versions.map((version) => store.write('EPA/a.txt', version)))
    expect(versions).toContain(await readFile(join(root, 'data/EPA/a.txt'), 'utf8'))
    expect(await readdir(join(root, 'data/EPA'))).toEqual(['a.txt'])
  })

  test('removes what a killed process left half written, and leaves what another writes now', async () => {
    const [old, young] = ['old', 'young'].map((name) => join(root, 'data/.incoming', name))
    for (const path of [old!, young!]) await writeFile(path, '{')
    const hourAgo = new Date(Date.now() - 3_700_000)
    await utimes(old!, hourAgo, hourAgo)
    await openStore(join(root, 'data'))
    expect(await readdir(join(root, 'data'), { recursive: true })).toEqual(['.incoming', '.incoming/young'])
    expect(await bucketSize(join(root, 'data'))).toBe(0)
  })

  test('refuses a folder for unfinished files that leads out of it', async () => {
    await rm(join(root, 'data/.incoming'), { recursive: true })
    await symlink(root, join(root, 'data/.incoming'))
    await expect(openStore(join(root, 'data'))).rejects.toThrow('symbolic link')
  })

  test('writes nothing outside itself, by path or by symbolic link', async () => {
    await expect(store.write('../evil', 'x')).rejects.toThrow(UnsafePathError)
    await symlink(root, join(root, 'data/EPA'))
    await expect(store.write('EPA/evil', 'x')).rejects.toThrow('symbolic link')
    expect(await readdir(root)).toEqual(['data'])
  })

  test('knows which records it holds as they were last modified', async () => {
    const record = { kind: 'dockets', id: 'E-1', agencyId: 'EPA', docketId: 'E-1' } as const
    const at = (lastModified: string) => store.holds({ ...record, lastModified })
    expect(await at('2024-01-01 00:00:00')).toBe(false)
    await store.write(
      jsonPath(record),
      JSON.stringify({ data: { attributes: { modifyDate: '2024-01-01T00:00:00Z' } } }),
    )
    expect(await at('2024-01-01 00:00:00')).toBe(true)
    expect(await at('2024-01-01 00:00:01')).toBe(false)
    await store.write(jsonPath(record), 'not JSON')
    expect(await at('2024-01-01 00:00:00')).toBe(false)
  })
})

async function* chunks(parts: readonly (string | Error)[]): AsyncGenerator<Uint8Array> {
  for (const part of parts) {
    if (part instanceof Error) throw part
    yield Buffer.from(part)
  }
}

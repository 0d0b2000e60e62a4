import { expect, onTestFinished, test } from 'vitest'
import { pdfBomb, pdfPage, pdfStream, tightly } from '../../../../test-support/hostile-documents.ts'
import { extractedPath } from '../storage/layout.ts'
import { extractText } from './reading/extract-text.ts'
import { openReader } from './reading/reader.ts'

test.each([
  ['a.txt', 'as it is\n', 'as it is\n'],
  [
    'a.HTM',
    '<html><head><title>No</title></head><style>p{}</style><body><p>One &amp; two</p><!-- no --><p>three&#33;  four</p>',
    'One & two\nthree! four',
  ],
  ['a.doc', 'x', undefined],
  ['txt', 'no extension', undefined],
])('the text of %s', async (name, body, text) => {
  expect(await extractText(name, Buffer.from(body))).toBe(text)
})

test('text is stored where the layout has it, and only of attachments', () => {
  expect(extractedPath('EPA/EPA-1/binary-EPA-1/comments_attachments/EPA-1-2_attachment_1.txt')).toBe(
    'EPA/EPA-1/text-EPA-1/comments_extracted_text/plain/EPA-1-2_attachment_1_extracted.txt',
  )
  expect(extractedPath('EPA/EPA-1/text-EPA-1/documents/EPA-1-2_content.htm')).toBeUndefined()
})

// Each took from half a minute to hours while regular expressions read them; the test would end at its limit of time.
test.each([
  ['comments without an end', '<!--'.repeat(100_000), ''],
  ['scripts without an end', '<script>x'.repeat(50_000), ''],
  ['tags without an end', 'a<div '.repeat(50_000), 'a'],
  ['white space', `a${' '.repeat(400_000)}b${'\n \t'.repeat(100_000)}c`, 'a b\nc'],
  ['nested tags', `${'<b>'.repeat(100_000)}x${'</i>'.repeat(100_000)}`, 'x'],
])('a page of %s is read at once', async (_, html, text) => {
  expect(await extractText('a.html', Buffer.from(html))).toBe(text)
})

test('what is hidden is left out, and only its own end ends it', async () => {
  const html =
    '<HEAD><title>no</title></HEAD><P>one<script>if (a < b) "</p>"</script>two<style>p > a {}</style> &#x41;&nbsp;B &lt;3</P><br>x<!-- > -->y'
  expect(await extractText('a.html', Buffer.from(html))).toBe('one two A B <3\nx y')
})

test('the text layer of a PDF is its text, and its process is one that can be killed', async () => {
  const reader = openReader(tightly)
  onTestFinished(() => reader.close())
  const page = pdfStream(Buffer.from('BT /F1 12 Tf 72 720 Td (A comment of ten words) Tj ET'))
  const font = '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>'
  const comment = pdfPage(page, '/Font << /F1 5 0 R >>', [font])
  expect(await reader.read('text', ['a.PDF', comment])).toBe('A comment of ten words')
  await expect(reader.read('text', ['a.pdf', pdfBomb()])).rejects.toMatchObject({
    reason: 'took-too-much-memory',
  })
  await expect(reader.read('text', ['a.pdf', Buffer.from('%PDF')])).rejects.toMatchObject({
    reason: 'damaged',
  })
})

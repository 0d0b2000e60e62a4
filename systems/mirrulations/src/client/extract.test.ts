import { expect, test } from 'vitest'
import { extractedPath, extractText } from './extract.ts'

test.each([
  ['a.txt', 'as it is\n', 'as it is\n'],
  [
    'a.HTM',
    '<html><head><title>No</title></head><style>p{}</style><body><p>One &amp; two</p><!-- no --><p>three&#33;  four</p>',
    'One & two\nthree! four',
  ],
  ['a.pdf', '%PDF', undefined],
  ['txt', 'no extension', undefined],
])('the text of %s', (name, body, text) => {
  expect(extractText(name, Buffer.from(body))).toBe(text)
})

test('text is stored where the layout has it, and only of attachments', () => {
  expect(extractedPath('EPA/EPA-1/binary-EPA-1/comments_attachments/EPA-1-2_attachment_1.txt')).toBe(
    'EPA/EPA-1/text-EPA-1/comments_extracted_text/plain/EPA-1-2_attachment_1_extracted.txt',
  )
  expect(extractedPath('EPA/EPA-1/text-EPA-1/documents/EPA-1-2_content.htm')).toBeUndefined()
})

/** Text as the later stages like it: one kind of line end, no stray characters, words that a line end broke made whole. */
export function tidied(text: string): string {
  return text
    .normalize('NFC')
    .replaceAll(/\r\n?/g, '\n')
    .replaceAll(/[^\P{C}\n\t]/gu, '')
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n')
    .replaceAll(/(\p{Ll})-\n(\p{Ll})/gu, '$1$2')
    .replaceAll(/\n{3,}/g, '\n\n')
    .trim()
}

/** A text as keys see it: trimmed, each run of white space one space, and the case kept, since "It" is not "it". */
export function normalised(text: string): string {
  return text.trim().replaceAll(/\s+/g, ' ')
}

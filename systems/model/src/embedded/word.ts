/**
 * The words of a text as features compare them: without accents, case or possessive, plurals folded with Harman's
 * S-stemmer ("How effective is suffixing?", JASIS 42, 1991).
 */
export function wordsOf(text: string): string[] {
  const folded = text
    .normalize('NFKD')
    .replaceAll(/\p{M}+/gu, '')
    .toLowerCase()
  const spoken = folded.replaceAll(/['’]s\b/g, '').replaceAll(/(?<=\p{L})['’](?=\p{L})/gu, '')
  return (spoken.match(/[\p{L}\p{N}]+/gu) ?? []).map(singular)
}

/** The words that say what a text is about: function words and question words left out. */
export function contentWordsOf(text: string): string[] {
  return wordsOf(text).filter((word) => !isFunctionWord(word))
}

/** True for words that stand in every text, whatever it is about. */
export function isFunctionWord(word: string): boolean {
  return functionWords.has(word)
}

function singular(word: string): string {
  if (word.length < 4) return word
  if (word.endsWith('ies') && !/[ae]ies$/.test(word)) return `${word.slice(0, -3)}y`
  if (word.endsWith('es') && !/[aeo]es$/.test(word)) return word.slice(0, -1)
  return word.endsWith('s') && !/[us]s$/.test(word) ? word.slice(0, -1) : word
}

// Folded as wordsOf folds, so that "does" and "was" are found.
const functionWords = new Set(
  `a about above after again against all also am an and any are aren around as at be because been before being below between
  both but by can cannot could did do doe doing don down during each else ever every explain few first for from further get
  give given had has have having he her here him his how however i if in into is isn it its itself just know least less
  let like made make many may me mean might more most much must my no nor not now of off on once one only or other our
  out over own please same say second see shall she should show so some such tell than that the their them then there these
  they thi this those through to too under until up upon us very wa was we were what when where whether which while who whom
  whose why will with within without would you your describe happen happened happening`.split(/\s+/),
)

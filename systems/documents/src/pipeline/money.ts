import type { Span } from './sentence.ts'

/** A sum that a text names, and where it does. */
export interface SumFound extends Span {
  readonly sum: string
}

/** The sums that a text names, as currency and amount (`USD 1250000`), with their places. */
export function moneyIn(text: string): SumFound[] {
  return [...text.matchAll(before), ...text.matchAll(after)].flatMap((match) => {
    const { unit = '', digits = '', scale = '' } = match.groups ?? {}
    const currency = currencies.get(unit.toLowerCase())
    const amount = Number(digits.replaceAll(',', '')) * (scales.get(scale.toLowerCase()) ?? 1)
    if (currency === undefined || !Number.isFinite(amount)) return []
    // Cents, and no more: 1.1 million is 1100000.0000000001 to a computer.
    const rounded = Number(amount.toFixed(2))
    return [{ sum: `${currency} ${rounded}`, start: match.index, end: match.index + match[0].length }]
  })
}

const currencies = new Map([
  ['$', 'USD'],
  ['us$', 'USD'],
  ['usd', 'USD'],
  ['dollars', 'USD'],
  ['dollar', 'USD'],
  ['€', 'EUR'],
  ['eur', 'EUR'],
  ['euros', 'EUR'],
  ['euro', 'EUR'],
  ['£', 'GBP'],
  ['gbp', 'GBP'],
  ['pounds', 'GBP'],
])

const scales = new Map([
  ['thousand', 1e3],
  ['k', 1e3],
  ['million', 1e6],
  ['m', 1e6],
  ['billion', 1e9],
  ['bn', 1e9],
])

const digits = String.raw`(?<digits>\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)`
const scale = String.raw`(?<scale>thousand|million|billion|k|m|bn)`
const before = new RegExp(
  String.raw`(?<unit>US\$|[$€£]|\b(?:USD|EUR|GBP))\s?${digits}(?:\s?${scale}\b)?`,
  'gi',
)
const after = new RegExp(
  String.raw`(?<![$€£\d.,])\b${digits}(?:\s${scale})?\s(?<unit>dollars?|euros?|pounds)\b`,
  'gi',
)

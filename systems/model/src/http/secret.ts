import { inspect } from 'node:util'

/** A text such as an API key that prints as `[secret]` wherever it is logged, joined to a text or made JSON. */
export class Secret {
  readonly #text: string

  constructor(text: string) {
    this.#text = text
  }

  /** The text itself, for the one header that carries it. */
  reveal(): string {
    return this.#text
  }

  /** The same words with the secret blanked out, should an upstream repeat it. */
  redact(words: string): string {
    return this.#text === '' ? words : words.replaceAll(this.#text, '[secret]')
  }

  toString(): string {
    return '[secret]'
  }

  toJSON(): string {
    return '[secret]'
  }

  [inspect.custom](): string {
    return '[secret]'
  }
}

import { spawn } from 'node:child_process'
import type { PageImage } from '@keyspec-systems/reading/pdf'

/** Reads the text in a picture. */
export interface OcrProvider {
  readonly name: string
  read(image: PageImage): Promise<string>
}

/** An OCR program that could not be run, or failed; the document is not to blame, so another try may help. */
export class OcrError extends Error {
  override readonly name = 'OcrError'
  readonly code = 'E_OCR'
}

/**
 * The provider that `OCR_COMMAND` names, a program with its arguments that takes a picture (PNM) on its input and writes
 * text on its output: `tesseract stdin stdout -l eng` with Debian's tesseract-ocr. Undefined where it is not set.
 */
export function ocrFrom(env: Readonly<Record<string, string | undefined>>): OcrProvider | undefined {
  const command = env['OCR_COMMAND']?.trim() ?? ''
  return command === '' ? undefined : commandOcr(command.split(/\s+/))
}

/** An OCR program as a provider. */
export function commandOcr(command: readonly string[], { timeoutMs = 120_000 } = {}): OcrProvider {
  const [program = '', ...options] = command
  return {
    name: program,
    read: (image) =>
      new Promise((resolve, reject) => {
        const child = spawn(program, options, { timeout: timeoutMs, killSignal: 'SIGKILL' })
        const output: Buffer[] = []
        let complaint = ''
        child.stdout.on('data', (chunk: Buffer) => output.push(chunk))
        child.stderr.on('data', (chunk: Buffer) => (complaint = (complaint + chunk.toString()).slice(-500)))
        child.once('error', (cause) =>
          reject(new OcrError(`OCR_COMMAND: ${program} could not be started`, { cause })),
        )
        child.once('close', (status, signal) => {
          if (status === 0) return resolve(Buffer.concat(output).toString('utf8'))
          const ending = signal === null ? `status ${status}` : `${signal}, perhaps after ${timeoutMs} ms`
          return reject(new OcrError(`OCR_COMMAND: ${program} ended with ${ending}: ${complaint.trim()}`))
        })
        // A program that ends without reading closes its input: its status says more than that does.
        child.stdin.on('error', () => undefined)
        child.stdin.end(pnm(image))
      }),
  }
}

/** A picture as a PGM or PPM file, the simplest that every OCR program takes. */
export function pnm({ width, height, channels, pixels }: PageImage): Buffer {
  return Buffer.concat([Buffer.from(`P${channels === 1 ? 5 : 6}\n${width} ${height}\n255\n`), pixels])
}

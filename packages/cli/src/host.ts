/** What the command line lives in: a process, or a test. */
export interface Host {
  readonly cwd: string
  readonly env: Readonly<Record<string, string | undefined>>
  readonly stdin: NodeJS.ReadableStream & { readonly isTTY?: boolean }
  readonly stdout: Writable
  readonly stderr: Writable
  readonly signal: AbortSignal
}

/** The little of a stream that is written to. */
export interface Writable {
  write(text: string | Uint8Array): unknown
  once(event: 'drain', heard: () => void): unknown
  readonly isTTY?: boolean
  readonly columns?: number
}

/** One comparison: the same work done by several contenders, in several cases. */
export interface Job {
  readonly name: string
  /** What is measured, for the report. */
  readonly about: string
  readonly cases: readonly Case[]
  readonly contenders: { readonly [name: string]: Contender }
  readonly targets: readonly Target[]
}

/** One way to ask: which act, and how many of it at once. */
export interface Case {
  readonly name: string
  readonly act: string
  readonly inFlight: number
  /** How many items one act does, where it does several: rates are of items. */
  readonly items?: number
}

/** A library, set up as its own documentation recommends. */
export interface Contender {
  readonly label: string
  /** Connects, and makes what the acts need. It runs in a process of its own. */
  open(server: Address): Promise<Acts>
}

/** Where the server is. */
export interface Address {
  readonly socket: string
  readonly port: number
  readonly url: string
}

/** What a contender can do, each act one whole operation of its user's; and `close`. */
export interface Acts {
  readonly acts: { readonly [name: string]: () => Promise<unknown> }
  close(): Promise<unknown> | void
}

/** What is promised: in this case, ours against the best of these. */
export interface Target {
  readonly case: string
  readonly ours: string
  readonly against: readonly string[]
  readonly atLeast: number
  /** What it is to be where client and server have a core each, if that is promised. */
  readonly onTwoCores?: number
}

/** The clients that an actor can have. */
export type ClientName = 'node-redis' | 'ioredis' | 'glide'

/** The place where an actor finds its Redis. */
export type Address =
  | {
      readonly kind: 'server'
      readonly port: number
      /** The certificate of the authority and the account, where the server wants TLS and a password. */
      readonly secured?: { readonly ca: string; readonly user: string; readonly password: string }
    }
  | { readonly kind: 'sentinel'; readonly name: string; readonly ports: readonly number[] }
  | { readonly kind: 'cluster'; readonly ports: readonly number[] }

/** The order that a child process is started with. */
export interface Order {
  readonly name: string
  readonly client: ClientName
  /** `worker`: takes jobs from the queue, and nothing else. */
  readonly role: 'all' | 'worker'
  readonly address: Address
  /** The file of its history. */
  readonly history: string
  readonly seed: number
  readonly plants: readonly string[]
}

/** A message to an actor. */
export type Told =
  | { readonly tell: 'stop' }
  | { readonly tell: 'stall'; readonly ms: number }
  | { readonly tell: 'sample' }

/** A sample of what an actor uses, after a collection of garbage. */
export interface Sample {
  readonly heapBytes: number
  /** Timers, sockets and other things that keep the process busy. */
  readonly resources: number
  readonly listeners: number
}

/** The parts of a client of node-redis 5 that keep it from writing, and the events of a cluster of such clients. */
interface Pausable {
  on?(event: string, listener: () => void): unknown
  withCommandOptions?(options: object): { readonly _commandOptions?: object }
  _pause?(): void
  _unpause?(): void
}

const watched = new WeakSet<object>()

/**
 * Keeps each reply of a node-redis 5 client with its command. If a connection is lost in the tick in which a command was asked
 * for, that client writes the command to the lost socket, after it has rejected all that waited. The command then gets the first
 * reply of the next connection, and every reply goes to the wrong command. A client that is paused writes nothing, so the
 * command stays in its queue: from `reconnecting`, which comes before that write, to `connect`, which comes before the next one.
 */
export function keepInOrder(client: object): void {
  if (watched.has(client)) return
  watched.add(client)
  if (!isNodeRedis5(client)) return
  const pausable: Pausable = client
  pausable.on?.('reconnecting', () => pausable._pause?.())
  pausable.on?.('connect', () => pausable._unpause?.())
}

/** As `keepInOrder`, for each client of a cluster, once it is connected for the first time. */
export function keepClusterInOrder(cluster: {
  readonly masters: readonly object[]
  readonly replicas?: readonly object[]
}): void {
  if (watched.has(cluster)) return
  watched.add(cluster)
  const keepAll = () => {
    for (const node of [...cluster.masters, ...(cluster.replicas ?? [])]) {
      const { client } = node as { readonly client?: object }
      if (client !== undefined) keepInOrder(client)
    }
  }
  keepAll()
  ;(cluster as Pausable).on?.('node-ready', keepAll)
}

/** Of node-redis 5 and 6, only 5 keeps the very object that it is given. 6 writes to no socket that is lost. */
function isNodeRedis5(client: Pausable): boolean {
  const options = {}
  return client.withCommandOptions?.(options)._commandOptions === options
}

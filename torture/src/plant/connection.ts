import type { Connection } from 'keyspec'

/** Sends each command on a counter, a list or a claim twice now and then, as a client does that resends. */
export function resending(connection: Connection): Connection {
  return {
    ...connection,
    async send(command, shape) {
      const touched = command.some((word) => /^(?:hits:|items$|claims$)/.test(String(word)))
      if (touched && Math.random() < 0.1) await connection.send(command, shape)
      return connection.send(command, shape)
    },
  }
}

/** Gives every holder of a lock the same token. */
export function sharedToken(connection: Connection): Connection {
  const isLock = (word: unknown) => String(word).startsWith('lock:')
  const isToken = (word: unknown) => /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(String(word))
  return {
    ...connection,
    send: (command, shape) =>
      connection.send(
        command.some(isLock) ? command.map((word) => (isToken(word) ? '1' : word)) : command,
        shape,
      ),
  }
}

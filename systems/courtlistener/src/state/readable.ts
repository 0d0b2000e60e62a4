import { DecodeError, KeyspecError } from 'keyspec'

/** What another program wrote may not be readable, or be of another type: then there is nothing, and all else goes on. */
export async function readable<T>(value: Promise<T>): Promise<T | undefined> {
  return value.catch((error: unknown) => {
    const isWrongType = error instanceof KeyspecError && error.code === 'E_WRONG_TYPE'
    if (isWrongType || error instanceof DecodeError) return undefined
    throw error
  })
}

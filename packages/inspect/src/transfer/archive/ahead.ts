/**
 * The same items, each asked for while the one before is in use, so that two sides work at once. For one item it holds
 * two. Where `isWanted` is false, they are passed on as they come.
 */
export async function* ahead<T>(items: AsyncGenerator<T>, isWanted: boolean): AsyncGenerator<T> {
  if (!isWanted) {
    yield* items
    return
  }
  let next = items.next()
  try {
    for (;;) {
      const { done, value } = await next
      if (done === true) return
      next = items.next()
      // It is awaited in its turn, or nobody wants it any more.
      next.catch(() => {})
      yield value
    }
  } finally {
    await items.return(undefined)
  }
}

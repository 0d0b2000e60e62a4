/** A URL without the slashes at its end, so that a path can follow it. */
export function withoutEndSlashes(url: string): string {
  let end = url.length
  while (url[end - 1] === '/') end -= 1
  return url.slice(0, end)
}

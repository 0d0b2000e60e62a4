/** A score as the server writes it. */
export function scoreText(score: number): Buffer {
  return Buffer.from(score === Infinity ? 'inf' : score === -Infinity ? '-inf' : String(score))
}

/** A score as the server writes it. */
export function scoreText(score: number): Buffer {
  return Buffer.from(Number.isFinite(score) ? String(score) : String(score).replace('Infinity', 'inf'))
}

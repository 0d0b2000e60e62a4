import * as v from 'valibot'

/** A moment in UTC as the document writes it: `2024-01-01T12:00:00Z`, with or without a fraction. */
export const instant = v.pipe(
  v.string(),
  v.regex(
    /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|\+00:00)$/,
    'must be a UTC time such as 2024-01-01T12:00:00Z',
  ),
  v.check((text) => !Number.isNaN(Date.parse(text)), 'must be a time that exists'),
)

/** A moment as the document writes it: whole seconds. */
export function instantOf(date: Date): string {
  return date.toISOString().replace(/\.\d{3}Z$/, 'Z')
}

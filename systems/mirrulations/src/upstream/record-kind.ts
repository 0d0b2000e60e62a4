/** What regulations.gov keeps, by the names of its API's paths. */
export type Kind = 'dockets' | 'documents' | 'comments'

/** The three kinds, in the order in which they depend on each other. */
export const kinds: readonly Kind[] = ['dockets', 'documents', 'comments']

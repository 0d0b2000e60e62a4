import { courtlistenerSchema } from '@keyspec-systems/courtlistener/schema'
import { documentsSchema } from '@keyspec-systems/documents/schema'
import { mirrulationsSchema } from '@keyspec-systems/mirrulations/schema'
import { moviesSchema } from '@keyspec-systems/movies/schema'
import { tutorSchema } from '@keyspec-systems/tutor/schema'
import { mount, type Mount, type Schema } from 'keyspec'

/** The deployment environment that stands before every key of the film search. */
export const moviesEnvironment = 'demo'

/** The systems, by the names of their folders. */
export type System = 'courtlistener' | 'documents' | 'tutor' | 'mirrulations' | 'movies'

/** The keyspaces of all five systems on one database, each with the keys of its document. */
export const all: { readonly [system in System]: Mount<Schema> } = {
  courtlistener: mount('', courtlistenerSchema()),
  // `cache:ocr:` is the tutor's here.
  documents: mount('', documentsSchema({ ownsOcr: false })),
  tutor: mount('', tutorSchema()),
  mirrulations: mount('', mirrulationsSchema()),
  movies: mount(`${moviesEnvironment}:`, moviesSchema()),
}

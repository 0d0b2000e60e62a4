import { json, string } from 'keyspec'
import { cache, fixedWindow } from 'keyspec/recipes'
import * as v from 'valibot'

/** What the command is given to read. */
export const schema = {
  session: string('session:<id>', json(v.object({ user: v.string() })), { ttl: '1h' }),
  page: cache('page:<path>', json(v.object({ title: v.string() })), { ttl: '1d' }),
  signIn: fixedWindow('sign-in:<address>', { per: '1m', limit: 10 }),
}

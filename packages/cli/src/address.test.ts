import { expect, test } from 'vitest'
import { type Address, addressOf, placeOf, withoutPassword } from './address.ts'

const plain: Address = {
  protocol: 'redis:',
  hostname: 'h',
  port: 6379,
  path: '',
  username: undefined,
  password: undefined,
  database: 0,
}
const unix = { ...plain, protocol: 'unix:', hostname: 'localhost', path: '/tmp/r.sock' } as const

test.each<[string, Partial<Address>]>([
  ['redis://h', {}],
  ['redis://h/', {}],
  ['redis://h:7000', { port: 7000 }],
  ['rediss://h', { protocol: 'rediss:' }],
  ['redis:///2', { hostname: 'localhost', database: 2 }],
  ['redis://[::1]:7000', { hostname: '::1', port: 7000 }],
  ['redis://[2001:db8::1]', { hostname: '2001:db8::1' }],
  ['redis://h/3', { database: 3 }],
  ['redis://h?db=3', { database: 3 }],
  ['redis://h/3?db=3', { database: 3 }],
  ['redis://:pw@h', { password: 'pw' }],
  ['redis://ann:pw@h', { username: 'ann', password: 'pw' }],
  ['redis://a%3An%40:p%3A%40%2F%25%C3%A9@h', { username: 'a:n@', password: 'p:@/%é' }],
  ['unix:///tmp/r.sock', unix],
  ['unix:///tmp/r.sock?db=3', { ...unix, database: 3 }],
  ['unix:///tmp/a%20b', { ...unix, path: '/tmp/a b' }],
  ['unix:///tmp/a b', { ...unix, path: '/tmp/a b' }],
  ['unix://:pw@/tmp/r.sock', { ...unix, password: 'pw' }],
  ['unix://ann:p%40w@localhost/tmp/r.sock', { ...unix, username: 'ann', password: 'p@w' }],
])('%s is read whole', (url, told) => {
  expect(addressOf(url)).toEqual({ ...plain, ...told })
})

test('a Sentinel has another port of its own', () => {
  expect(addressOf('redis://h', 26379).port).toBe(26379)
  expect(addressOf('redis://h:7000', 26379).port).toBe(7000)
})

test.each([
  ['h:6379', 'is no server’s URL'],
  ['//h', 'the server’s URL is not one'],
  ['http://ann:secret@h', 'http:// is no server’s URL'],
  ['redis://ann:secret@h/three', 'the database in the server’s URL is a number'],
  ['redis://ann:secret@h/-1', 'the database in the server’s URL is a number'],
  ['redis://ann:secret@h/3/', 'the database in the server’s URL is a number'],
  ['unix:///tmp/r.sock?db=one', 'the database in the server’s URL is a number'],
  ['redis://ann:secret@h/3?db=4', 'names two databases'],
  ['redis://ann:secret%zz@h', 'a % that encodes nothing'],
  ['redis://secret@h', 'a user without a password'],
  ['unix://tmp/r.sock', 'unix:///path, with three slashes'],
  ['unix://', 'unix:///path, with three slashes'],
])('%s is a misuse, and its password is not said', (url, said) => {
  let message = ''
  try {
    addressOf(url)
  } catch (error) {
    expect(error).toMatchObject({ exitCode: 2 })
    message = (error as Error).message
  }
  expect(message).toContain(said)
  expect(message).not.toContain('secret')
})

test('what is shown of a URL holds neither user nor password', () => {
  expect(placeOf('redis://ann:secret@h:7000/3')).toBe('redis://h:7000/3')
  expect(placeOf('redis://ann:secret@[::1]/')).toBe('redis://[::1]')
  expect(placeOf('unix://ann:secret@/tmp/r.sock')).toBe('unix:///tmp/r.sock')
})

test('a command line that is printed has stars for the password', () => {
  expect(withoutPassword('redis://ann:secret@h/3')).toBe('redis://ann:***@h/3')
  expect(withoutPassword('unix://ann:secret@/tmp/r.sock')).toBe('unix://ann:***@localhost/tmp/r.sock')
  expect(withoutPassword('redis://ann@h')).toBe('redis://ann@h')
})

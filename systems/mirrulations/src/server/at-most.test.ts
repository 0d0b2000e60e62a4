import { expect, test } from 'vitest'
import { atMost, within } from './at-most.ts'

test('so many at once, and a place is free again whatever became of its work', async () => {
  const doing = atMost(2)
  const endless = new Promise<never>(() => {})
  void doing(() => endless)
  await expect(doing(async () => Promise.reject(new Error('broken')))).rejects.toThrow('broken')
  expect(await doing(async () => 'done')).toBe('done')
  void doing(() => endless)
  const more = doing(async () => 'never')
  await expect(more).rejects.toMatchObject({ status: 503, headers: { 'Retry-After': '1' } })
})

test('what arrives too late is answered 408, and what arrives in time is there', async () => {
  expect(await within(10_000, Promise.resolve('there'))).toBe('there')
  await expect(within(1, new Promise(() => {}))).rejects.toMatchObject({ status: 408 })
})

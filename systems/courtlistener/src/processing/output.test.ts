import { mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import * as v from 'valibot'
import { afterEach, beforeEach, expect, test } from 'vitest'

import { Docket } from '../upstream/docket.ts'
import { docketAnswer } from '../upstream/stand-in/docket-answer.ts'
import { invent } from '../upstream/stand-in/invented-docket.ts'
import { recordOf, type DocketRecord } from './docket-record.ts'
import { openOutput } from './output.ts'

let folder: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'courtlistener-'))
})

afterEach(() => rm(folder, { recursive: true, force: true }))

test('a record is written to a file of its own, and read back', async () => {
  const output = await openOutput(join(folder, 'made', 'here'))
  const [record] = records(1)
  const path = await output.write(record!)
  expect(path).toBe(join(folder, 'made', 'here', `${record!.docket_id}.json`))
  expect(JSON.parse(await readFile(path, 'utf8'))).toEqual(record)
  expect(await output.read(record!.docket_id)).toEqual(record)
  expect(await output.read('999')).toBeUndefined()
})

test('a resumed run sees what is finished, and fetches what is damaged again', async () => {
  const output = await openOutput(folder)
  const [whole, cut, other] = records(3) as [DocketRecord, DocketRecord, DocketRecord]
  for (const record of [whole, cut, other]) await output.write(record)
  await writeFile(join(folder, `${cut.docket_id}.json`), '{"docket_id": "4')
  await writeFile(join(folder, `${other.docket_id}.json`), JSON.stringify(whole))
  await writeFile(join(folder, 'notes.txt'), 'not ours')
  const { docketIds, damaged } = await (await openOutput(folder)).finished()
  expect([...docketIds]).toEqual([whole.docket_id])
  expect(damaged.toSorted()).toEqual([cut.docket_id, other.docket_id].toSorted())
  await expect(output.read(cut.docket_id)).rejects.toThrow('delete it, or let it be fetched again')
  await output.write(cut)
  expect(await output.read(cut.docket_id)).toEqual(cut)
})

test('many writers of one docket leave one whole file, and nothing beside it', async () => {
  const output = await openOutput(folder)
  const [record] = records(1)
  const versions = Array.from({ length: 20 }, (_, index) => ({
    ...record!,
    case_name: 'x'.repeat(index * 500),
  }))
  await Promise.all(versions.map((version) => output.write(version)))
  expect(await readdir(folder)).toEqual([`${record!.docket_id}.json`])
  expect(versions).toContainEqual(await output.read(record!.docket_id))
})

test('a record that cannot be written leaves nothing behind', async () => {
  const output = await openOutput(folder)
  const [record] = records(1)
  await expect(output.write({ ...record!, docket_id: '../escape' })).rejects.toThrow('whole number')
  await expect(output.write({ ...record!, date_filed: 'yesterday' })).rejects.toThrow()
  expect(await readdir(folder)).toEqual([])
})

test('what a killed worker left half written goes after an hour, not before', async () => {
  const old = join(folder, '.1.abc.tmp')
  const young = join(folder, '.2.abc.tmp')
  await writeFile(old, '{')
  await writeFile(young, '{')
  const twoHoursAgo = new Date(Date.now() - 7_200_000)
  await utimes(old, twoHoursAgo, twoHoursAgo)
  const output = await openOutput(folder)
  expect(await readdir(folder)).toEqual(['.2.abc.tmp'])
  expect((await output.finished()).docketIds.size).toBe(0)
})

function records(count: number): DocketRecord[] {
  return invent({ dockets: count }).map((docket) =>
    recordOf(v.parse(Docket, docketAnswer(docket, 'http://127.0.0.1/api/rest/v4'))),
  )
}

import { courts, parties, subjects } from './invented-subject.ts'

/** How many dockets to invent. */
export interface InventOptions {
  /** 300 unless told. */
  readonly dockets?: number
  readonly seed?: number
}

/** An invented docket, without the URLs that depend on where the stand-in listens. */
export interface InventedDocket {
  readonly id: number
  readonly court_id: string
  readonly slug: string
  readonly case_name: string
  readonly docket_number: string
  readonly docket_number_core: string
  readonly pacer_case_id: string
  readonly date_filed: string
  readonly date_terminated: string | null
  readonly date_last_filing: string | null
  readonly date_created: string
  readonly date_modified: string
  readonly cause: string
  readonly nature_of_suit: string
  readonly jury_demand: string
  readonly jurisdiction_type: string
  readonly assigned_to_str: string
  readonly referred_to_str: string
}

/** The same dockets for the same options, always; ids rise and have gaps, as real ones do. */
export function invent({ dockets = 300, seed = 20_240_917 }: InventOptions = {}): InventedDocket[] {
  const random = mulberry32(seed)
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T
  let id = 4_214_000
  return Array.from({ length: dockets }, (_, index) => {
    id += 1 + Math.floor(random() * 7)
    const court = pick(courts)
    const subject = pick(subjects)
    const plaintiff = subject.code === 'cr' ? 'United States' : pick(parties)
    const defendant = pick(parties.filter((party) => party !== plaintiff))
    const filedMs = Date.UTC(2016, 0, 4) + Math.floor(random() * 3_000) * dayMs
    const lastMs = filedMs + Math.floor(random() * 900) * dayMs
    const year = new Date(filedMs).getUTCFullYear() % 100
    const serial = 100 + (index % 9_000)
    // Some case names come in capitals, with runs of white space: what a program must put in order.
    const caseName = `${plaintiff} v. ${defendant}`
    const isShouted = random() < 0.15
    return {
      id,
      court_id: court.id,
      slug: slugOf(caseName),
      case_name: isShouted ? `${caseName.toUpperCase().replace(' V. ', ' v.  ')} ` : caseName,
      docket_number: `${court.office}:${pad(year, 2)}-${subject.code}-${pad(serial, 5)}`,
      docket_number_core: `${pad(year, 2)}${pad(serial, 5)}`,
      pacer_case_id: String(170_000 + index),
      date_filed: dayOf(filedMs),
      date_terminated: random() < 0.5 ? dayOf(lastMs) : null,
      date_last_filing: random() < 0.9 ? dayOf(lastMs) : null,
      date_created: `${dayOf(filedMs)}T07:25:37.448945-07:00`,
      date_modified: `${dayOf(lastMs + dayMs)}T03:59:${pad(index % 60, 2)}.387426-07:00`,
      cause: subject.cause,
      nature_of_suit: subject.nature,
      jury_demand: pick(['None', 'Plaintiff', 'Both', '']),
      jurisdiction_type: subject.code === 'cr' ? '' : pick(['Federal Question', 'Diversity']),
      assigned_to_str: pick(court.judges),
      referred_to_str: '',
    }
  })
}

const dayMs = 86_400_000

function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10)
}

function pad(value: number, length: number): string {
  return String(value).padStart(length, '0')
}

function slugOf(text: string): string {
  const plain = text.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase()
  return plain.replaceAll(/[^a-z0-9]+/g, '-').replaceAll(/^-|-$/g, '')
}

function mulberry32(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

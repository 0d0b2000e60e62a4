import { distance } from 'fastest-levenshtein'

import type { MatchMethod } from './canonical-entities.ts'
import type { EntityType } from './mentions.ts'
import { initialsOf } from './organization.ts'
import { areCompatible, personName } from './person.ts'

/** Why two names may mean one entity, and how sure that is, from 0 to 1. */
export interface Match {
  readonly method: MatchMethod
  readonly score: number
}

/** A name, as it is compared and as it was written. */
export interface Name {
  readonly normal: string
  readonly text: string
}

/** Whether a name may mean the same as a fuller one of its type. */
export function matched(type: EntityType, name: Name, fuller: Name): Match | undefined {
  if (name.normal === fuller.normal) return { method: 'exact', score: 1 }
  if (type === 'PERSON') return matchedPerson(name.normal, fuller.normal)
  if (type === 'ORG') return matchedOrganization(name, fuller)
  // A date or a sum is the same or another; of places, only longer names can be misread.
  return type === 'LOCATION' ? similar(name.normal, fuller.normal, 8) : undefined
}

function matchedPerson(name: string, fuller: string): Match | undefined {
  const a = personName(name)
  const b = personName(fuller)
  if (a === undefined || b === undefined || !areCompatible(a, b)) return undefined
  if (a.family !== b.family) {
    const close = similar(a.family, b.family, 6)
    return close === undefined || a.given.length === 0 ? undefined : close
  }
  return a.given.length === 0 ? { method: 'short', score: 0.8 } : { method: 'initials', score: 0.9 }
}

function matchedOrganization(name: Name, fuller: Name): Match | undefined {
  if (/^\p{Lu}{2,8}$/u.test(name.text)) {
    return name.text === initialsOf(fuller.text) ? { method: 'acronym', score: 0.9 } : undefined
  }
  if (fuller.normal.startsWith(`${name.normal} `) && name.normal.length >= 6)
    return { method: 'short', score: 0.8 }
  return similar(name.normal, fuller.normal, 8)
}

// One letter in ten may be misread; a number may not, since Local 12 is not Local 13.
function similar(a: string, b: string, leastLength: number): Match | undefined {
  const length = Math.max(a.length, b.length)
  if (Math.min(a.length, b.length) < leastLength || digitsOf(a) !== digitsOf(b)) return undefined
  const score = 1 - distance(a, b) / length
  return score >= (length < 10 ? 0.85 : 0.9)
    ? { method: 'similar', score: Number(score.toFixed(3)) }
    : undefined
}

function digitsOf(text: string): string {
  return text.replaceAll(/\D+/g, ' ').trim()
}

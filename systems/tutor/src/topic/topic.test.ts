import { embeddedEmbedder } from '@keyspec-systems/model'
import * as v from 'valibot'
import { beforeAll, describe, expect, test } from 'vitest'

import type { Resource } from '../resource/resource.ts'
import { sample } from '../resource/sample.ts'
import { AbcrDecision, Anchor, TopicHistoryEntry } from '../shape/topic.ts'
import { extractHtml } from '../web/extract.ts'
import { buildAnchor, historyEntryOf, titleOf } from './anchor.ts'
import { decide, facetsOf } from './decide.ts'
import { entitiesOf } from './key-phrase.ts'
import { suggestionHash, suggestionsFrom } from './suggestion.ts'

const mills = extractHtml(sample('tide-mills.html').toString())
const resources: Resource[] = [
  { id: 'lanterns', kind: 'file', title: 'The Lantern Revolt', text: sample('lantern-revolt.md').toString() },
  { id: 'mills', kind: 'web', title: mills.title, text: mills.content },
  { id: 'moss', kind: 'text', title: 'Moss clocks', text: sample('moss-clocks.txt').toString() },
]
const { embed, cosines } = embeddedEmbedder
const now = new Date('2026-05-03T10:00:00Z')
let anchor: Anchor

beforeAll(async () => {
  anchor = await buildAnchor({ question: 'What caused the Lantern Revolt?', resources, embed, now })
})

describe('an anchor', () => {
  test('has the shape of the document, with a title, a scope and names from the resources', () => {
    expect(v.parse(Anchor, anchor)).toMatchObject({
      canonical_title: 'Lantern Revolt',
      canonical_seed: 'What caused the Lantern Revolt?',
      source: 'user_query',
      created_at: '2026-05-03T10:00:00Z',
    })
    expect(anchor.topic_embedding).toHaveLength(1536)
    expect(anchor.subject_scope).toContain('salt tax')
    expect(anchor.locked_entities).toEqual(expect.arrayContaining(['1804', 'Ines Calloway', 'Governor Hale']))
    expect(anchor.locked_entities).not.toContain('Pell Ishikawa')
    expect(v.is(TopicHistoryEntry, historyEntryOf(anchor))).toBe(true)
  })

  test('stands without any resource', async () => {
    const bare = await buildAnchor({ question: 'How do plants make sugar?', resources: [], embed })
    expect(bare).toMatchObject({ canonical_title: 'Plants sugar', subject_scope: [], locked_entities: [] })
    expect(bare.id).not.toBe(anchor.id)
  })

  test.each([
    ['Why did the French Revolution begin?', 'French Revolution'],
    ['explain photosynthesis', 'Photosynthesis'],
    ['Tell me about Louis XVI and the Bastille', 'Louis XVI and Bastille'],
    ['why?', 'why?'],
  ])('of "%s" is called "%s"', (question, title) => {
    expect(titleOf(question).toLowerCase()).toBe(title.toLowerCase())
  })
})

describe('a decision', () => {
  test.each([
    ['Who led the Lantern Revolt?', 'related'],
    ['Who was Ines Calloway?', 'related'],
    ['What did the salt tax cost the carriers?', 'related'],
    ['And what happened then?', 'related'],
    ['How do mosses make sugar?', 'unrelated'],
    ['Who built the first tide mill?', 'unrelated'],
    ['What is the capital of France?', 'unrelated'],
    ['Solve 3x + 2 = 11', 'unrelated'],
  ])('on "%s" is %s', async (question, expected) => {
    const made = v.parse(AbcrDecision, await decide({ question, anchor, cosines, embed, now }))
    expect(made).toMatchObject({ decision: expected, computed_at: '2026-05-03T10:00:00Z' })
    const mean = (made.attention_score + made.similarity_score) / 2
    expect(made.combined_score).toBeGreaterThanOrEqual(mean - 1e-9)
    expect(made.combined_score).toBeLessThan(mean + 0.006)
  })

  test('turns at the threshold that the session has', async () => {
    const material = { question: 'How did the governor react?', anchor, cosines, embed, now }
    const { combined_score: score } = await decide(material)
    expect(score).toBeGreaterThan(0)
    expect(await decide({ ...material, threshold: score })).toMatchObject({ decision: 'related' })
    expect(await decide({ ...material, threshold: score + 0.01 })).toMatchObject({ decision: 'unrelated' })
  })

  test('reads 0.78 and 0.65 as 0.72, as the document does', async () => {
    // Vectors made so that the cosine with the topic is 0.65 and with its only facet 0.78.
    const topic = {
      ...anchor,
      topic_embedding: [1, 0],
      canonical_seed: '',
      subject_scope: [],
      locked_entities: [],
    }
    const asked = Float32Array.of(0.65, Math.sqrt(1 - 0.65 ** 2))
    const angle = Math.acos(0.65) - Math.acos(0.78)
    const facet = Float32Array.of(Math.cos(angle), Math.sin(angle))
    const made = await decide({
      question: 'Which lantern?',
      anchor: topic,
      cosines: { unrelated: 0, related: 1 },
      embed: async () => [asked, facet],
    })
    expect(made).toMatchObject({ attention_score: 0.78, similarity_score: 0.65, combined_score: 0.72 })
  })

  test('asks for the vectors of the question and of each facet together, once', async () => {
    const asked: (readonly string[])[] = []
    const spy: typeof embed = (texts) => {
      asked.push(texts)
      return embed(texts)
    }
    await decide({ question: 'Who led it?', anchor, cosines, embed: spy })
    expect(asked).toHaveLength(1)
    expect(asked[0]!.slice(1)).toEqual(facetsOf(anchor))
  })
})

describe('suggestions', () => {
  test('come from each resource in turn, each once, under the digest of its text', () => {
    const suggestions = suggestionsFrom(resources)
    expect(suggestions.slice(0, 3).map(({ resource }) => resource)).toEqual(['lanterns', 'mills', 'moss'])
    expect(new Set(suggestions.map(({ hash }) => hash)).size).toBe(suggestions.length)
    expect(
      suggestions.every(({ text, hash }) => /^[0-9a-f]{64}$/.test(hash) && hash === suggestionHash(text)),
    ).toBe(true)
    const texts = suggestions.map(({ text }) => text)
    expect(texts).toContain('What happened in 1804?')
    expect(texts).toContain('What does “Moss clocks” say about Pell Ishikawa?')
  })

  test('are the same each time, and none without resources', () => {
    expect(suggestionsFrom(resources)).toEqual(suggestionsFrom(resources))
    expect(suggestionsFrom([])).toEqual([])
  })
})

test('names are runs of capitals and years, not the first word of a sentence', () => {
  expect(
    entitiesOf('In 1804 the carrier Ines Calloway left. Lanterns went out. The Salt Road was built by 1801.'),
  ).toEqual(['1804', 'Ines Calloway', 'Salt Road', '1801'])
})

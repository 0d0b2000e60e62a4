import { describe, expect, test } from 'vitest'

import { embeddedAnswerer } from './answerer.ts'
import { rank } from './ranking.ts'
import { sentencesOf } from './sentence.ts'

const passages = [
  {
    id: 'mill',
    title: 'The tide mill',
    text: 'A tide mill turns with the sea. The mill at Quill Bay was built in 1623.\n\nGulls nest on its roof.',
  },
  {
    id: 'bread',
    title: 'Bread',
    text: 'Barley bread is heavy. Wheat bread rises well.\n- Rye bread keeps for weeks.',
  },
]

describe('the embedded answerer', () => {
  test('answers with the sentence that holds the answer, and names its source and itself', async () => {
    const answer = await embeddedAnswerer.answer('When was the mill at Quill Bay built?', passages)
    expect(answer.answer).toContain('built in 1623')
    expect(answer.answer).not.toContain('bread')
    expect(answer).toMatchObject({ sources: ['mill'], confidence: 1, model: 'embedded:extractive-bm25' })
  })

  test('finds a sentence in a list, whatever the inflection of its words', async () => {
    const { answer, sources } = await embeddedAnswerer.answer('Which breads keep for a week?', passages)
    expect(answer).toContain('Rye bread keeps for weeks.')
    expect(sources).toEqual(['bread'])
  })

  test('has less confidence where the passages know half of the question', async () => {
    const { confidence } = await embeddedAnswerer.answer(
      'Who painted the tide mill in watercolours?',
      passages,
    )
    expect(confidence).toBeGreaterThan(0)
    expect(confidence).toBeLessThan(1)
  })

  test('says that it found nothing rather than something beside the point', async () => {
    const answer = await embeddedAnswerer.answer('How far is Saturn?', passages)
    expect(answer).toMatchObject({ confidence: 0, sources: [] })
    expect(answer.answer).toContain('say nothing')
    expect(await embeddedAnswerer.answer('How far is Saturn?', [])).toMatchObject({ confidence: 0 })
  })
})

test('ranking prefers the rare word and the shorter text', () => {
  const { scores } = rank('sea mill', ['the sea', 'the sea and the wide grey sky', 'the sea mill', 'sand'])
  expect(scores[2]).toBeGreaterThan(scores[0]!)
  expect(scores[0]).toBeGreaterThan(scores[1]!)
  expect(scores[3]).toBe(0)
})

test('sentences end at full stops, blank lines and list items', () => {
  expect(sentencesOf('# Tides\n\nThe sea rises. Dr. Quill\nknew it.\n- one item\n- 2\n')).toEqual([
    'Tides',
    'The sea rises.',
    'Dr. Quill knew it.',
    'one item',
  ])
})

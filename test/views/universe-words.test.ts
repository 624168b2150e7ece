import { expect, test } from 'vitest'
import { wordsOfVerdict } from '../../src/views/universe-words.ts'

const DAY = 86_400_000
const YOUNG = { isIn: false, reason: 'young', limit: 10 * DAY } as const

test.each([
  [{ ...YOUNG, value: 3 * DAY }, 'age 3 d below 10 d'],
  [
    { ...YOUNG, value: 3 * DAY, isSeenOnly: true },
    'age 3 d below 10 d, counted since it was first seen',
  ],
  [{ ...YOUNG, value: 0, isSeenOnly: true }, 'first seen now, younger than 10 d'],
  [{ ...YOUNG, value: -2 * DAY }, 'to be listed in 2 d'],
  [
    { isIn: true, reason: 'unconfirmed', objection: 'volumeLow', value: 4, limit: 5 },
    'volume 4 below 5; stays unless the next answer says so too',
  ],
  [
    { isIn: true, reason: 'unconfirmed', objection: 'delivery' },
    'a contract with a delivery date; stays unless the next answer says so too',
  ],
] as const)('%o is said as: %s', (verdict, words) => {
  expect(wordsOfVerdict(verdict)).toBe(words)
})

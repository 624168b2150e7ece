import { expect, test } from 'vitest'
import { didYouMean } from '../../src/lib/did-you-mean.ts'

const KNOWN = ['openOrdersMax', 'orderNotionalMax', 'seed', 'log']

test.each([
  ['a letter too few', 'openOrderMax', 'openOrdersMax'],
  ['a letter too many', 'openOrdersMaxx', 'openOrdersMax'],
  ['a wrong letter', 'openOrdersMix', 'openOrdersMax'],
  ['two letters swapped', 'ordreNotionalMax', 'orderNotionalMax'],
  ['another case', 'OPENORDERSMAX', 'openOrdersMax'],
  ['a short word with a slip', 'sed', 'seed'],
])('%s is understood', (_, word, expected) => {
  expect(didYouMean(word, KNOWN)).toBe(expected)
})

test.each([
  ['another word', 'websocket'],
  ['a short word', 'x'],
  ['nothing', ''],
  ['a word of a thousand letters', 'o'.repeat(1000)],
])('%s has no guess', (_, word) => {
  expect(didYouMean(word, KNOWN)).toBeUndefined()
})

import { expect, test } from 'vitest'
import { isSameData } from '../../src/lib/plain-data.ts'

const made = () => ({ levels: [1, { side: 'buy' }], name: 'a', none: null })

test('what is made twice of the same parts is the same data', () => {
  expect(isSameData(made(), made())).toBe(true)
})

test.each([
  ['another value', { ...made(), name: 'b' }],
  ['a value deep inside', { ...made(), levels: [1, { side: 'sell' }] }],
  ['another order of keys', { name: 'a', levels: [1, { side: 'buy' }], none: null }],
  ['one part more', { ...made(), more: undefined }],
  ['one part less', { levels: [1, { side: 'buy' }], name: 'a' }],
  ['a shorter list', { ...made(), levels: [1] }],
  ['an object for a list', { ...made(), levels: { 0: 1, 1: { side: 'buy' } } }],
  ['an instance of a class', Object.assign(new (class Own {})(), made())],
  ['nothing', null],
])('%s is not', (_, other) => {
  expect(isSameData(made(), other)).toBe(false)
  expect(isSameData(other, made())).toBe(false)
})

test('what is no number is not the same as another', () => {
  expect(isSameData(Number.NaN, Number.NaN)).toBe(false)
})

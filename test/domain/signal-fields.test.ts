import { expect, test } from 'vitest'
import { readSignalFields, type SignalFields } from '../../src/domain/signal-fields.ts'

const FIELDS: SignalFields = {
  action: { type: 'oneOf', values: ['long', 'short'], optional: false },
  price: { type: 'number', min: 0, max: 10, optional: true },
  note: { type: 'text', lengthMax: 5, optional: true },
  isHard: { type: 'boolean', optional: true },
}

test('the fields are those of the schema, in its order, so equal contents are one text', () => {
  const read = readSignalFields(FIELDS, { isHard: true, price: -0, note: 'ok', action: 'long' })
  expect(JSON.stringify(read)).toBe(
    '{"value":{"action":"long","price":0,"note":"ok","isHard":true}}',
  )
  expect('value' in read && Object.is(read.value['price'], 0)).toBe(true)
  expect(readSignalFields(FIELDS, { action: 'short' })).toEqual({ value: { action: 'short' } })
})

test.each([
  [{}, 'action is missing'],
  [{ action: 'flat' }, 'action is none of long, short'],
  [{ action: ['long'] }, 'action is none of long, short'],
  [{ action: 'long', price: '1' }, 'price is a text: write the number without quotes'],
  [{ action: 'long', price: Number.NaN }, 'price is no number'],
  [{ action: 'long', price: Number.POSITIVE_INFINITY }, 'price is no number'],
  [{ action: 'long', price: null }, 'price is no number'],
  [{ action: 'long', price: -1 }, 'price is below 0'],
  [{ action: 'long', price: 11 }, 'price is above 10'],
  [{ action: 'long', note: { deep: [] } }, 'note is no text'],
  [{ action: 'long', note: '123456' }, 'note is longer than 5 characters'],
  [{ action: 'long', note: 'a\u{1b}[1' }, 'note has characters that are not seen'],
  [{ action: 'long', note: 'a\u{202e}b' }, 'note has characters that are not seen'],
  [{ action: 'long', note: 'a\nb' }, 'note has characters that are not seen'],
  [{ action: 'long', note: '\u{d83d}' }, 'note has characters that are not seen'],
  [{ action: 'long', isHard: 'true' }, 'isHard is neither true nor false'],
] as const)('%j is refused: %s', (given, problem) => {
  expect(readSignalFields(FIELDS, given)).toEqual({ problem })
})

test('a field that is not listed is refused, also under the name of a prototype, and not repeated', () => {
  for (const name of ['__proto__', 'constructor', 'toString', 'canary-5d1'])
    expect(readSignalFields(FIELDS, JSON.parse(`{"action":"long","${name}":1}`))).toEqual({
      problem: 'a field that is not listed; listed are action, price, note, isHard',
    })
  const field = { type: 'number', optional: false } as const
  expect(readSignalFields({ constructor: field }, {})).toEqual({
    problem: 'constructor is missing',
  })
})

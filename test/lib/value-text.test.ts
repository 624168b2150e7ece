import { describe, expect, test } from 'vitest'
import { decimal } from '../../src/lib/decimal.ts'
import { parseValue, writeValue } from '../../src/lib/value-text.ts'

describe('a value as text', () => {
  test.each([
    ['what JSON can say', { text: 'a\tb\n"c"', list: [1, 2.5, -3e-9, true, null], empty: {} }],
    [
      'what JSON would lose',
      [undefined, Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, -0],
    ],
    ['a field that is there and undefined', { ticks: undefined, lots: 1 }],
    [
      'maps and sets, in their order',
      new Map<unknown, unknown>([
        ['b', new Set([2, 1])],
        ['a', new Map()],
      ]),
    ],
    ['names that look like marks', { $map: 1, $$: { $: 'NaN' } }],
    ['a name that JavaScript has plans with', JSON.parse('{"__proto__": {"a": 1}, "b": 2}')],
  ])('comes back: %s', (_, value) => {
    expect(parseValue(writeValue(value))).toStrictEqual(value)
  })

  test('money comes back exactly, and as money', () => {
    const [money] = parseValue(writeValue([decimal('0.10000000000000000001')])) as [
      ReturnType<typeof decimal>,
    ]

    expect(money.plus(decimal('1')).toString()).toBe('1.10000000000000000001')
  })

  test('has no line break and no tab, and is the same for the same value', () => {
    const text = writeValue({ a: 'one\ttwo\nthree', b: 1 })

    expect(text).not.toMatch(/[\t\n]/)
    expect(writeValue(parseValue(text))).toBe(text)
  })

  test.each([[() => 1], [Symbol('s')], [1n], [new Date(0)]])(
    'is refused for what is no data: %s',
    (value) => {
      expect(() => writeValue({ value })).toThrow(/cannot be written/)
    },
  )

  test.each(['{"$money":"1"}', '{"$":"zero"}', '{"$map":1}'])(
    'is refused with a mark of nobody: %s',
    (text) => {
      expect(() => parseValue(text)).toThrow(TypeError)
    },
  )
})

import { expect, test } from 'vitest'
import { controlRequestSchema } from '../../src/control/commands.ts'

const LAST_INSTANT = 8_640_000_000_000_000

test('money was moved at an instant that has a date', () => {
  const at = (movedAt: number): boolean =>
    controlRequestSchema.safeParse({
      requestId: 'anna-0001',
      by: 'anna',
      reason: 'savings',
      order: { kind: 'deposit', amount: '10', movedAt },
    }).success

  expect([at(LAST_INSTANT), at(LAST_INSTANT + 1), at(0), at(-1)]).toEqual([
    true,
    false,
    false,
    false,
  ])
  expect(() => new Date(LAST_INSTANT + 1).toISOString()).toThrow(RangeError)
})

test('texts of a command become one line each', () => {
  const { reason, by, order } = controlRequestSchema.parse({
    requestId: 'anna-0001',
    by: 'anna\u2028note',
    reason: 'odd\n  note  fine\u2029until never\u0085x\u202e',
    order: { kind: 'restrict', scope: 'BTC\nUSDT', mode: 'halted' },
  })
  expect([by, reason, order]).toEqual([
    'anna note',
    'odd   note  fine until never x',
    { kind: 'restrict', scope: 'BTC USDT', mode: 'halted' },
  ])
  expect(
    controlRequestSchema.safeParse({ requestId: 'anna-0001', by: 'a', reason: '\u202e' }).success,
  ).toBe(false)
})

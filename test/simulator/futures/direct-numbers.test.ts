/* What is read again and again is worked out in floats where they are exact: the same digits as by decimals. */
import { describe, expect, test } from 'vitest'
import { decimal } from '../../../src/lib/decimal.ts'
import { createRandom } from '../../../src/lib/random.ts'
import { buildInstruments } from '../../../src/simulator/futures/instruments/instruments.ts'
import { rounded } from '../../../src/simulator/futures/instruments/ticker-view.ts'
import {
  NO_POSITION,
  quoteValue,
  unrealised,
  type Position,
} from '../../../src/simulator/futures/positions/position.ts'
import {
  unrealisedNumber,
  unrealisedText,
} from '../../../src/simulator/futures/positions/position-view.ts'

const NOW = Date.UTC(2025, 0, 1)
const random = createRandom('direct numbers')

describe('a number is rounded as its text would be', () => {
  test.each([2, 4, 6, 8])('to %i decimals', (decimals) => {
    const wanted = (value: number): number => Number(value.toFixed(decimals)) + 0
    const halves = Array.from({ length: 200 }, (_, index) => (index - 100 + 0.5) / 10 ** decimals)
    const drawn = Array.from(
      { length: 2000 },
      () => random.normal() * 10 ** (random.integer(14) - 4),
    )
    const odd = [0, -0, Number.NaN, 1e15, 123_456_789_012.345, -(10 ** -(decimals + 1)), 1e-12]
    for (const value of [...halves, ...drawn, ...odd])
      expect(rounded(value, decimals)).toBe(wanted(value))
  })
})

test('a value of more ticks times lots than a number holds exactly is exact', () => {
  const [instrument] = buildInstruments(NOW)
  if (instrument === undefined) throw new Error('there is no instrument')
  const [ticks, lots] = [100_000_000_001, 300_001]

  const value = quoteValue(instrument, ticks, lots)

  expect(value.toString()).toBe(
    decimal('30000100000300001').times(instrument.tickLotValue).toString(),
  )
})

describe('an unrealised profit is written to the last digit', () => {
  const instruments = buildInstruments(NOW).filter(({ symbol }) => /^(?:BTC|ETH)USD/.test(symbol))

  test.each(instruments)('$symbol', (instrument) => {
    for (const holdSide of ['long', 'short'] as const) {
      for (let count = 0; count < 200; count++) {
        const position: Position = {
          sequence: 1,
          uid: '1',
          symbol: instrument.symbol,
          slot: 'net',
          holdSide,
          marginMode: 'crossed',
          leverage: 10,
          openedAt: NOW,
          updatedAt: NOW,
          ...NO_POSITION,
        }
        const ticks = 1 + random.integer(2_000_000)
        position.lots = 1 + random.integer(count % 2 === 0 ? 100 : 2_000_000)
        position.cost = quoteValue(instrument, ticks, position.lots)
        // What closing a part leaves may lie between two steps.
        if (count % 3 === 0) position.cost = position.cost.plus(decimal('0.000000000123'))
        const mark =
          count % 5 === 0 ? ticks : ticks + random.integer(2000) - Math.min(1000, ticks - 1)
        const exact = unrealised(instrument, position, mark).toString()
        expect(unrealisedText(instrument, position, mark)).toBe(exact)
        expect(unrealisedNumber(instrument, position, mark)).toBe(Number(exact))
      }
    }
  })
})

import { describe, expect, test } from 'vitest'
import { createRandom } from '../../../src/lib/random.ts'
import {
  type Candle,
  drawCandles,
  drawOrders,
  MINUTE_MS,
  playSession,
  type TestFill,
  type TestOrder,
} from './candle-session.ts'

/*
 * What candles alone say of fills, in plain arithmetic: the exchange must never be more generous. A candle without
 * its path knows which prices there were and how much was traded, so it knows what could not have happened, and
 * what must have.
 */

const SHARE = { pessimistic: 0.05, default: 0.1, optimistic: 1 } as const
const PATHS = ['random', 'highFirst', 'lowFirst'] as const
const FEES = { maker: 2n, taker: 6n } as const

const random = createRandom('reference')
const CANDLES = drawCandles(random, 500)
const ORDERS = drawOrders(random, CANDLES)
const CASES = (['pessimistic', 'default', 'optimistic'] as const).flatMap((fillModel) =>
  PATHS.map((candlePath) => ({ fillModel, candlePath })),
)

describe.each(CASES)(
  '$fillModel fills on candles that go $candlePath',
  ({ fillModel, candlePath }) => {
    const { fills, ledger } = playSession({
      candles: CANDLES,
      orders: ORDERS,
      fillModel,
      candlePath,
    })
    const of = (index: number) => fills.filter((fill) => fill.index === index)

    test('happen at prices that were there, never better than the limit allows', () => {
      expect(fills.length).toBeGreaterThan(100)
      expect(fills.filter((fill) => !couldHappen(fill))).toEqual([])
    })

    test('take no more of a candle than the share', () => {
      const taken = new Map<number, number>()
      for (const { at, lots } of fills)
        taken.set(candleAt(at), (taken.get(candleAt(at)) ?? 0) + lots)

      const greedy = [...taken].filter(
        ([row, lots]) => lots > (CANDLES[row]?.lots ?? 0) * SHARE[fillModel],
      )
      expect(greedy).toEqual([])
    })

    test('come where price went through a resting order and enough was traded', () => {
      const missed = ORDERS.filter((order, index) => {
        const whole = of(index).reduce((sum, { lots }) => sum + lots, 0) === order.lots
        return !whole && mustFill(order, SHARE[fillModel])
      })

      expect(missed).toEqual([])
    })

    test('are fewer than those that a touch would give', () => {
      const touches = ORDERS.filter((order, index) => of(index).some(isMaker) && !isPassed(order))
      const touched = ORDERS.filter((order) => order.ticks !== undefined && !isPassed(order))

      if (fillModel === 'pessimistic') expect(touches).toEqual([])
      expect(touches.length).toBeLessThan(touched.length)
    })

    test('cost the fee of their value, and add up to the balance, to the last digit', () => {
      const sum = (values: readonly bigint[]) => values.reduce((total, value) => total + value, 0n)
      // Ticks and lots of 0.01 each, fees in steps of 1 bp: hundred-millionths of a USDT.
      const fees = fills.map(({ ticks, lots, scope }) => {
        return BigInt(ticks) * BigInt(lots) * (scope === 'maker' ? FEES.maker : FEES.taker)
      })
      const coin = ledger.coins.find(({ marginCoin }) => marginCoin === 'USDT')
      const wrong = fills.filter(({ fee }, row) => inHundredMillionths(fee) !== -(fees[row] ?? 0n))

      expect(wrong).toEqual([])
      expect(inHundredMillionths(coin?.fees ?? '')).toBe(sum(fees))
    })
  },
)

test('fills are the same however time is cut', () => {
  const session = {
    candles: CANDLES,
    orders: ORDERS,
    fillModel: 'default',
    candlePath: 'random',
  } as const

  expect(playSession({ ...session, cuts: createRandom('cuts') })).toEqual(playSession(session))
})

/** A fill at a price of its candle, or of a quote beside it; a maker at its own price. */
function couldHappen({ index, at, ticks, scope }: TestFill): boolean {
  const order = ORDERS[index] as TestOrder
  const { low, high } = CANDLES[candleAt(at)] as Candle
  const isBuy = order.side === 'buy'
  const isThere = isBuy ? ticks >= low : ticks <= high
  if (order.ticks === undefined) return isThere && scope === 'taker'
  const isWithin = isBuy ? ticks <= order.ticks : ticks >= order.ticks
  return isThere && isWithin && (scope === 'taker' || ticks === order.ticks)
}

/** A limit order that the price of a later candle went through, where its share was more than the order wants. */
function mustFill({ from, to, side, ticks, lots }: TestOrder, share: number): boolean {
  if (ticks === undefined) return false
  return CANDLES.slice(from + 1, to + 1).some(({ open, low, high, lots: traded }) => {
    const isCrossed = side === 'buy' ? low < ticks && open > ticks : high > ticks && open < ticks
    // A quarter of the share at one quote, in the most careful model.
    return isCrossed && Math.floor((traded * share) / 4) >= lots
  })
}

function isPassed({ from, to, side, ticks = 0 }: TestOrder): boolean {
  return CANDLES.slice(from, to + 1).some(({ low, high }) =>
    side === 'buy' ? low < ticks : high > ticks,
  )
}

function isMaker({ scope }: TestFill): boolean {
  return scope === 'maker'
}

/** The row of the candle that an instant is in; in a gap the one before it. */
function candleAt(at: number): number {
  const next = CANDLES.findIndex((candle) => candle.at > at)
  const row = next < 0 ? CANDLES.length - 1 : next - 1
  if (at >= (CANDLES[row] as Candle).at + MINUTE_MS) throw new Error('a fill in a gap')
  return row
}

function inHundredMillionths(text: string): bigint {
  const [whole = '', part = ''] = text.replace('-', '').split('.')
  const value = BigInt(whole + part.padEnd(8, '0'))
  return text.startsWith('-') ? -value : value
}

import { expect, test } from 'vitest'
import { type Fill } from '../../../src/domain/fill.ts'
import { toOrderId, toStrategyId, toTradeId } from '../../../src/domain/ids.ts'
import { type PositionMode } from '../../../src/domain/instrument.ts'
import { fromBookRows, toBookRows } from '../../../src/engine/book/book-rows.ts'
import { createBook, pairKey } from '../../../src/engine/book/book.ts'
import { countOwnFill } from '../../../src/engine/book/own-trades.ts'
import { mutable } from '../../../src/lib/mutable.ts'
import { applyToHolding, FLAT } from '../../../src/domain/position.ts'
import { MOMENT_AT } from '../../support/market-moment.ts'

const STRATEGY = toStrategyId('s')
const PAIR = pairKey(STRATEGY, 'BTCUSDT')
const DAY = 86_400_000

type Trade = Partial<Fill> & Pick<Fill, 'side' | 'ticks' | 'lots'>

/** The book after these fills, one after the other. */
function bookOf(mode: PositionMode, trades: readonly Trade[]) {
  const book = mutable(createBook(mode))
  trades.forEach((trade, index) => {
    const fill = {
      ...({
        tradeId: toTradeId(`t${index}`),
        orderId: toOrderId('o'),
        symbol: 'BTCUSDT',
        tradeSide: 'open',
      } as const),
      ...({ fee: '0.1', profit: '0', scope: 'maker', source: 'API', filledAt: MOMENT_AT } as const),
      ...trade,
    }
    countOwnFill(book, STRATEGY, { fill })
    book.holdings.set(PAIR, applyToHolding(mode, book.holdings.get(PAIR) ?? FLAT, fill))
  })
  return book
}

const entryOf = (mode: PositionMode, trades: readonly Trade[]) =>
  bookOf(mode, trades).ownTrades.get(PAIR)?.entry

test('an entry is the average of what was bought; what is sold leaves it', () => {
  expect(
    entryOf('one_way_mode', [
      { side: 'buy', ticks: 100, lots: 1 },
      { side: 'buy', ticks: 106, lots: 2 },
      { side: 'sell', ticks: 500, lots: 2 },
    ]),
  ).toEqual({ longLots: 1, longTicks: 104, shortLots: 0, shortTicks: 0 })
})

test('one that goes through zero begins anew at the price of the fill', () => {
  expect(
    entryOf('one_way_mode', [
      { side: 'buy', ticks: 100, lots: 1 },
      { side: 'sell', ticks: 90, lots: 4 },
    ]),
  ).toEqual({ longLots: 0, longTicks: 0, shortLots: 3, shortTicks: 90 })
})

test('in hedge mode both sides have one', () => {
  expect(
    entryOf('hedge_mode', [
      { side: 'buy', ticks: 100, lots: 2 },
      { side: 'sell', ticks: 120, lots: 1 },
      { side: 'buy', tradeSide: 'close', ticks: 130, lots: 1 },
    ]),
  ).toEqual({ longLots: 1, longTicks: 100, shortLots: 1, shortTicks: 120 })
})

test('what others have closed is not counted again', () => {
  const book = bookOf('one_way_mode', [{ side: 'buy', ticks: 100, lots: 5 }])
  book.holdings.set(PAIR, FLAT)
  const later: Fill = {
    tradeId: toTradeId('later'),
    orderId: toOrderId('o'),
    symbol: 'BTCUSDT',
    side: 'buy',
    tradeSide: 'open',
    ticks: 200,
    lots: 1,
    fee: '0',
    profit: '0',
    scope: 'taker',
    source: 'API',
    filledAt: MOMENT_AT,
  }
  countOwnFill(book, STRATEGY, { fill: later })
  expect(book.ownTrades.get(PAIR)?.entry).toMatchObject({ longLots: 1, longTicks: 200 })
})

test('a day is counted by itself, and a late fill of yesterday is none of today', () => {
  const trades = bookOf('one_way_mode', [
    { side: 'buy', ticks: 100, lots: 1, profit: '5' },
    { side: 'sell', ticks: 100, lots: 1, profit: '2', filledAt: MOMENT_AT + DAY },
    { side: 'sell', ticks: 100, lots: 1, profit: '7', filledAt: MOMENT_AT + DAY - 1 },
  ]).ownTrades.get(PAIR)
  expect(trades).toMatchObject({ dayAt: MOMENT_AT + DAY, dayProfit: '2', dayFees: '0.1' })
})

test('[BND1] fifty fills are kept, and a checkpoint keeps them', () => {
  const book = bookOf(
    'one_way_mode',
    Array.from({ length: 60 }, (_, index) => ({ side: 'buy', ticks: index + 1, lots: 1 }) as const),
  )
  const trades = book.ownTrades.get(PAIR)
  expect(trades?.fills.map(({ ticks }) => ticks)).toEqual(
    Array.from({ length: 50 }, (_, index) => index + 11),
  )
  expect(fromBookRows(toBookRows(book)).ownTrades.get(PAIR)).toEqual(trades)
})

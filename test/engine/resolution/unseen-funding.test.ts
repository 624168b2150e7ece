import { expect, test } from 'vitest'
import { type Fill } from '../../../src/domain/fill.ts'
import { toOrderId } from '../../../src/domain/ids.ts'
import { type Holding } from '../../../src/domain/position.ts'
import { fromBookRows, toBookRows } from '../../../src/engine/book/book-rows.ts'
import { decimal } from '../../../src/lib/decimal.ts'
import { MOMENT_AT } from '../../support/market-moment.ts'
import { EngineBench, SYMBOL } from '../engine-bench.ts'

/** 100 lots of 0.001 at 10,000, a thousandth of which is paid a minute after midnight. */
const LOTS = 100
const PRICE = 10_000
const PAID_AT = MOMENT_AT + 60_000
const RATE = 0.001
const LONG = { longLots: LOTS, shortLots: 0 }
const FLAT = { longLots: 0, shortLots: 0 }
const CAPITAL = 200

const RULES = new Map([
  [SYMBOL, { tiers: [{ notionalMax: 1_000_000, rate: 0.004 }], takerFeeRate: 0.0006 }],
])
const MOVES = new Map([[SYMBOL, 0.12]])

/** Holds the long, read twice in the minute before the payment. */
function holding({ rate = RATE }: { readonly rate?: number } = {}): EngineBench {
  const bench = new EngineBench({
    capital: decimal(String(CAPITAL)),
    liquidation: { rules: RULES },
    survives: { moves: MOVES, jointMoves: MOVES, isGap: true },
    fundingMinutes: [1],
  }).start()
  bench.decide({ kind: 'target', symbol: SYMBOL, lots: LOTS })
  const batch = bench.grantBatch()
  bench.accept(batch)
  const opening = { orderId: toOrderId(`${batch.batchId}001`), lots: LOTS, ticks: PRICE * 10 }
  readFills(bench, bench.fill({ ...opening, fee: '0', scope: 'taker' }))
  for (const before of [20_000, 10_000, 5000]) read(bench, PAID_AT - before, { rate })
  return bench
}

interface ReadRow {
  readonly rate?: number
  readonly holding?: Holding
  readonly counter?: string
  readonly mark?: number
}

/** A position that waits for the fills of its moment, which come next. */
function readPosition(
  bench: EngineBench,
  at: number,
  { rate = RATE, holding: held = LONG, counter = '', mark = PRICE }: ReadRow,
): void {
  bench.now = at
  bench.price(PRICE, undefined, { fundingRate: rate })
  const rows = (['long', 'short'] as const)
    .map((holdSide) => ({
      holdSide,
      lots: held[`${holdSide}Lots`],
      openPriceAvg: PRICE,
      unrealisedProfit: '0',
      fundingFee: counter,
      markPrice: mark,
      liquidationPrice: Number.NaN,
      positionMode: 'one_way_mode' as const,
    }))
    .filter(({ lots }) => lots > 0)
  const times = { requestedAt: at, exchangeTime: at }
  bench.step({ kind: 'positionRead', reading: { symbol: SYMBOL, rows, isSilent: false, ...times } })
}

function readFills(bench: EngineBench, ...fills: readonly Fill[]): void {
  const reading = { fills, sinceAt: 0, requestedAt: bench.now, exchangeTime: bench.now }
  bench.step({ kind: 'fillsRead', reading })
}

function read(bench: EngineBench, at: number, row: ReadRow): void {
  readPosition(bench, at, row)
  bench.now += 1000
  readFills(bench)
}

/** The position is closed, or turned, by somebody. */
function sell(bench: EngineBench, lots: number, at: number): void {
  bench.now = at + 200
  bench.price(PRICE)
  const terms = { side: 'sell', tradeSide: 'close', lots, ticks: PRICE * 10, fee: '0' } as const
  const orderId = toOrderId('9001')
  readFills(bench, bench.fill({ ...terms, orderId, source: 'SYS', filledAt: at }))
}

const unseenOf = (bench: EngineBench) => bench.book.unseenFunding.get(SYMBOL)

test('a position that ends before a reading shows its payment has paid what rate, price and size say', () => {
  const bench = holding()
  sell(bench, LOTS, PAID_AT + 500)
  read(bench, PAID_AT + 2000, { holding: FLAT })

  expect(bench.recordsOf('unseenFunding')).toMatchObject([
    { symbol: SYMBOL, holdSide: 'long', paidAt: PAID_AT, change: '-1' },
  ])
  expect(bench.take('announce').map(({ event }) => event)).toContain('funding.estimated')
  expect(bench.book.funding.size).toBe(0)
  const kept = { amount: '-1', payments: 1, lastAt: PAID_AT }
  expect(fromBookRows(toBookRows(bench.book)).unseenFunding.get(SYMBOL)).toEqual(kept)
  expect(bench.restart().book.unseenFunding.get(SYMBOL)).toEqual(kept)
})

test('[RSK1] so does one that is turned, and the budget counts what is left', () => {
  const bench = holding()
  sell(bench, LOTS + 10, PAID_AT + 500)
  const short = { longLots: 0, shortLots: 10 }
  for (const later of [2000, 4000, 90_000]) read(bench, PAID_AT + later, { holding: short })

  expect(unseenOf(bench)).toEqual({ amount: '-1', payments: 1, lastAt: PAID_AT })
  expect(bench.engine.worstCase?.equity).toBeCloseTo(CAPITAL - 1, 6)
})

test('while it is still held, the payment lowers the equity until a reading shows it', () => {
  const bench = holding()
  sell(bench, LOTS / 2, PAID_AT + 500)
  expect(bench.engine.worstCase?.equity).toBeCloseTo(CAPITAL - 1, 6)
  const half = { longLots: LOTS / 2, shortLots: 0 }
  read(bench, PAID_AT + 2000, { holding: half, counter: '-0.9' })

  expect(bench.book.funding.get(SYMBOL)?.toString()).toBe('-0.9')
  readPosition(bench, PAID_AT + 4000, { holding: half, counter: '-0.9' })
  expect(bench.engine.worstCase?.equity).toBeCloseTo(CAPITAL - 0.9, 6)
  sell(bench, LOTS / 2, PAID_AT + 4500)
  expect(unseenOf(bench)).toBeUndefined()
})

test('a reading of before the end that waited for its fills shows it', () => {
  const bench = holding()
  readPosition(bench, PAID_AT + 300, { counter: '-0.98' })
  sell(bench, LOTS, PAID_AT + 500)

  expect(bench.book.funding.get(SYMBOL)?.toString()).toBe('-0.98')
  expect(unseenOf(bench)).toBeUndefined()
})

test.each([
  ['the side that receives', -RATE],
  ['a rate that is not known', Number.NaN],
])('nothing is estimated of %s', (_, rate) => {
  const bench = holding({ rate })
  sell(bench, LOTS, PAID_AT + 500)

  expect(unseenOf(bench)).toBeUndefined()
})

test('nothing is estimated of what was opened after the payment, or closed before it', () => {
  const bench = holding()
  sell(bench, LOTS + 10, PAID_AT - 200)
  read(bench, PAID_AT + 1000, { holding: { longLots: 0, shortLots: 10 } })
  sell(bench, 5, PAID_AT + 1500)

  expect(unseenOf(bench)).toBeUndefined()
})

test('a counter that has not moved after a minute shows that nothing was paid', () => {
  const bench = holding()
  read(bench, PAID_AT + 59_000, {})
  read(bench, PAID_AT + 61_000, {})
  sell(bench, LOTS, PAID_AT + 62_000)

  expect(unseenOf(bench)).toBeUndefined()
})

test('[MON1] one wrong answer about the rate is no payment', () => {
  const bench = holding({ rate: 0 })
  read(bench, PAID_AT - 2000, { rate: 5 })
  sell(bench, LOTS, PAID_AT + 500)

  expect(unseenOf(bench)).toBeUndefined()
})

test('a payment that a waiting reading has shown is in the equity at once', () => {
  const bench = holding()
  readPosition(bench, PAID_AT + 1000, { counter: '-0.98' })
  bench.now += 1000
  readFills(bench)

  expect(bench.book.funding.get(SYMBOL)?.toString()).toBe('-0.98')
  expect(bench.engine.equity?.equity).toBeCloseTo(CAPITAL - 0.98, 6)
})

test('[MON1] one wrong mark price makes no payment larger', () => {
  const bench = holding()
  read(bench, PAID_AT - 2000, { mark: PRICE * 100 })
  sell(bench, LOTS, PAID_AT + 500)

  expect(unseenOf(bench)).toMatchObject({ amount: '-1' })
})

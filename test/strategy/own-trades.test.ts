import { expect, test } from 'vitest'
import { decimal } from '../../src/lib/decimal.ts'
import { type Snapshot } from '../../src/domain/snapshot.ts'
import { SnapshotView } from '../../src/strategy/snapshot-view.ts'
import {
  EMPTY_ACCOUNT,
  holdingOf,
  madeInstrument,
  madeSnapshot,
  MOMENT_AT,
} from '../support/market-moment.ts'

const HOUR = 3_600_000

function viewOf(snapshot: Snapshot) {
  const view = new SnapshotView([madeInstrument()])
  view.pointAt(snapshot)
  return { snapshot: view, market: view.instrument('BTCUSDT') }
}

const TRADES = {
  entry: {
    longLots: 10,
    longTicks: 100005,
    shortLots: 0,
    shortTicks: 0,
  },
  dayAt: MOMENT_AT,
  dayProfit: '1.5',
  dayFees: '0.25',
  fills: [
    {
      ...({
        at: MOMENT_AT,
        side: 'buy',
        tradeSide: 'open',
        ticks: 100005,
        lots: 10,
      } as const),
      fee: '0.25',
      profit: '1.5',
      isMaker: true,
    },
  ],
}

test('the entry price is that of what the strategy holds, and the profit is at the mark price', () => {
  const marks = new Map([
    ['BTCUSDT', { markPrice: 10_010.5, unrealised: 1, margin: 2, readAt: MOMENT_AT }],
  ])
  const row = { holding: holdingOf(10), trades: TRADES, columns: { indexPrice: 9000 } }
  const { market } = viewOf({ ...madeSnapshot([row]), account: { ...EMPTY_ACCOUNT, marks } })

  expect(market.entryPrice).toBeCloseTo(10_000.5, 8)
  expect([market.markPrice, market.markSource]).toEqual([10_010.5, 'position'])
  expect(market.unrealisedProfit).toBeCloseTo(0.1, 8)
  expect(market.fills).toEqual([{ ...TRADES.fills[0], price: 10_000.5, fee: 0.25, profit: 1.5 }])
})

test('without a position the mark price is the index price, and says so; what is held unexplained has no entry', () => {
  const { market } = viewOf(
    madeSnapshot([{ holding: holdingOf(11), trades: TRADES, columns: { indexPrice: 9000 } }]),
  )

  expect([market.markPrice, market.markSource]).toEqual([9000, 'index'])
  expect(market.entryPrice).toBeNaN()
  expect(viewOf(madeSnapshot([{}])).market.unrealisedProfit).toBe(0)
})

test('what was realised today is that of the UTC day of the exchange', () => {
  const row = { trades: TRADES }
  const at = (exchangeTime: number) => viewOf(madeSnapshot([row], { exchangeTime })).market
  expect([at(MOMENT_AT + 23 * HOUR).realisedToday, at(MOMENT_AT + 23 * HOUR).feesToday]).toEqual([
    1.5, 0.25,
  ])
  expect(at(MOMENT_AT + 24 * HOUR).realisedToday).toBe(0)
})

test.each([
  [0, 8],
  [7.999, 8],
  [8, 16],
  [23, 24],
])('%s hours after midnight funding is paid next at %s', (hours, next) => {
  const { market } = viewOf(madeSnapshot([{}], { exchangeTime: MOMENT_AT + hours * HOUR }))
  expect(market.nextFundingAt).toBe(MOMENT_AT + next * HOUR)
})

test('lots for a risk lose that share of the equity over the distance, or are worth it', () => {
  const at = (equity: number | undefined, share: number, distance?: number) =>
    viewOf({
      ...madeSnapshot([{ bid: 49_999.9, ask: 50_000.1 }]),
      account: { ...EMPTY_ACCOUNT, equity },
    }).market.lotsForRisk({ share, ...(distance !== undefined && { distance }) })
  // 1 % of 10,000 are 100: 0.1 BTC lose that over 1,000, and 10 % are 0.02 BTC.
  expect(at(10_000, 0.01, 1000)).toBe(100)
  expect(at(10_000, 0.01, 1001)).toBe(99)
  expect(at(10_000, 0.1)).toBe(20)
  for (const lots of [
    at(undefined, 0.1),
    at(10_000, 0.1, Number.NaN),
    at(10_000, 0.1, 0),
    at(1, 0.1),
  ])
    expect(lots).toBe(0)
})

test('with a capital of its own a strategy counts sizes from that, not from the equity', () => {
  const at = (ownCapital: number | undefined) =>
    viewOf({
      ...madeSnapshot([{ bid: 49_999.9, ask: 50_000.1 }]),
      account: { ...EMPTY_ACCOUNT, equity: 10_000, ownCapital },
    })

  expect(at(4000).market.lotsForRisk({ share: 0.01, distance: 1000 })).toBe(40)
  expect(at(4000).snapshot.capital).toBe(4000)
  expect(at(undefined).snapshot.capital).toBe(10_000)
  expect(at(Number.NaN).snapshot.capital).toBeUndefined()
  expect(at(Number.NaN).market.lotsForRisk({ share: 0.01, distance: 1000 })).toBe(0)
})

test('the account is shown with what was realised and paid, funding, and what is not realised', () => {
  const account = {
    ...EMPTY_ACCOUNT,
    capital: decimal('10000'),
    equity: 10_005.75,
    money: new Map([
      ['a|BTCUSDT', { profit: decimal('12.5'), fees: decimal('2'), fills: 3 }],
      ['|BTCUSDT', { profit: decimal('-1'), fees: decimal('0.5'), fills: 1 }],
    ]),
    funding: new Map([['BTCUSDT', decimal('-0.25')]]),
    holdings: new Map([
      ['BTCUSDT', holdingOf(5)],
      ['ETHUSDT', holdingOf(0)],
    ]),
  }
  const marks = new Map([
    ['BTCUSDT', { markPrice: 1, unrealised: -3, margin: 50, readAt: MOMENT_AT }],
  ])
  const read = viewOf({ ...madeSnapshot([{}]), account: { ...account, marks } }).snapshot.account
  expect(read).toEqual({
    capital: 1e4,
    realisedProfit: 11.5,
    fees: 2.5,
    funding: -0.25,
    unrealisedProfit: -3,
    equity: 10005.75,
    free: 9955.75,
  })

  // What is held and was not read in this run is not guessed.
  const unread = viewOf({ ...madeSnapshot([{}]), account: { ...account, equity: undefined } })
    .snapshot.account
  expect([unread.unrealisedProfit, unread.equity, unread.free]).toEqual([
    undefined,
    undefined,
    undefined,
  ])
})

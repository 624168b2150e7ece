import { expect, test } from 'vitest'
import { formatWhatIf } from '../../src/cli/control/what-if.ts'
import { type WhatIfQuery, whatIfQuerySchema } from '../../src/control/what-if-view.ts'
import { type ShownAccount } from '../../src/views/shown-account.ts'
import { viewWhatIf } from '../../src/views/what-if.ts'
import { type ProductType } from '../../src/domain/instrument.ts'
import { toClientOid, toStrategyId } from '../../src/domain/ids.ts'
import type { Order } from '../../src/domain/order.ts'
import { decimal } from '../../src/lib/decimal.ts'
import { TrustedClock } from '../../src/exchange/clock/exchange-clock.ts'
import { ManualTime } from '../support/manual-time.ts'
import { madeInstrument } from '../support/market-moment.ts'

const SYMBOL = 'BTCUSDT'
const RULES = {
  tiers: [{ notionalMax: Number.POSITIVE_INFINITY, rate: 0.005 }],
  takerFeeRate: 0.001,
}
const AT = Date.UTC(2025, 5, 2, 10)

interface Scene {
  readonly productType?: ProductType
  readonly capital?: string
  readonly rules?: typeof RULES
  /** Lots of a thousandth. */
  readonly buysAt?: readonly { readonly ticks: number; readonly lots: number }[]
  readonly price?: number
}

/** A journal at rest that holds 1 coin, bought at 50,000. */
function shown({
  productType = 'USDT-FUTURES',
  rules,
  price = 50_000,
  buysAt = [],
  ...scene
}: Scene): ShownAccount {
  const instrument = {
    ...madeInstrument({ symbol: SYMBOL, tick: '1', lot: '0.001', lotsMin: 1 }),
    productType,
  }
  const orders = buysAt.map(({ ticks, lots }, index) => toOrder(`order-${index}`, ticks, lots))
  return {
    config: {
      name: 'made',
      account: { marginCoin: productType === 'COIN-FUTURES' ? 'BTC' : 'USDT' },
      risk: { liquidation: { takerFeeRate: '0.001' } },
    },
    settings: {
      instruments: new Map([[SYMBOL, instrument]]),
      strategies: new Map(),
      positionMode: 'one_way_mode',
      marginMode: 'crossed',
      ...(scene.capital !== undefined && { capital: decimal(scene.capital) }),
      liquidation: { rules: new Map(rules ? [[SYMBOL, rules]] : []) },
    },
    book: {
      deposited: '0',
      positionMode: 'one_way_mode',
      account: new Map([
        [
          SYMBOL,
          {
            longLots: 1e3,
            shortLots: 0,
          },
        ],
      ]),
      entries: new Map([
        [
          SYMBOL,
          {
            longLots: 1e3,
            longTicks: 5e4,
            shortLots: 0,
            shortTicks: 0,
            statedLongLots: 0,
          },
        ],
      ]),
      open: new Map([[SYMBOL, new Map(orders.map((order) => [order.terms.clientOid, order]))]]),
      holdings: new Map(),
      money: new Map(),
      funding: new Map(),
      ownTrades: new Map(),
      orphans: new Map(),
      exits: new Map(),
    },
    grids: new Map([[SYMBOL, instrument]]),
    positions: new Map(),
    state: 'atRest',
    tickers: undefined,
    storedPrices: new Map(
      price > 0
        ? [
            [
              SYMBOL,
              {
                price,
                at: AT,
              },
            ],
          ]
        : [],
    ),
    engine: {
      positionReadAt: () => 0,
      fillsAskedAt: 0,
      distances: new Map(),
      equityNow: undefined,
      instrument: () => undefined,
      unrealisedOn: () => Number.NaN,
      unrealisedOf: () => undefined,
    },
    recent: {
      today: new Map(),
      week: {
        money: NO_SUMS,
        funding: decimal('0'),
      },
      fundingToday: decimal('0'),
    },
    trusted: new TrustedClock(new ManualTime(1e6)),
  } as unknown as ShownAccount
}

const NO_SUMS = {
  fills: 0,
  profit: decimal('0'),
  fees: decimal('0'),
  coins: {},
  feesMissing: 0,
  profitsMissing: 0,
  profitsOurs: 0,
}

function toOrder(clientOid: string, ticks: number, lots: number): Order {
  return {
    state: 'live',
    filledLots: 0,
    terms: {
      clientOid: toClientOid(clientOid),
      strategyId: toStrategyId('one'),
      symbol: SYMBOL,
      ticks,
      lots,
      action: 'openLong',
    },
  } as unknown as Order
}

function query(change: Partial<WhatIfQuery> = {}): WhatIfQuery {
  return { move: -0.1, moves: new Map(), fill: 'reached', ...change }
}

const look = (account: ShownAccount, asked: WhatIfQuery) =>
  viewWhatIf(account, asked, () => Promise.resolve())

test('a journal at rest, by hand: what is held, what the fall costs, and where it ends', async () => {
  const scene = {
    capital: '10000',
    rules: RULES,
    buysAt: [
      { ticks: 48_000, lots: 500 },
      { ticks: 40_000, lots: 500 },
    ],
  }

  const view = await look(shown(scene), query())

  // 45,000: the held coin loses 5,000, half a coin bought at 48,000 loses 1,500, its fee is 24.
  expect(view).toMatchObject({
    coin: 'USDT',
    equity: '10000',
    prices: {
      [SYMBOL]: {
        price: 5e4,
        at: AT,
      },
    },
    scenario: {
      filled: 1,
      fees: '24',
      equity: '3476',
      change: '-6524',
      need: '405',
      free: '3071',
      isLiquidated: false,
      realised: '0',
      positions: [
        {
          symbol: SYMBOL,
          side: 'long',
          size: 1.5,
          price: 45e3,
          worth: '67500',
          profit: '-6500',
        },
      ],
    },
  })
  // Both are bought: 10,000 - 24 - 20 + 2 p - 50,000 - 24,000 - 20,000 = 0.006 × 2 p; the second comes too late.
  const first = (10_000 - 24 - 74_000) / -(1.5 - 0.009)
  expect(view.scenario.liquidation?.prices[SYMBOL]).toBeCloseTo(first, 3)
  expect(view.rows.map(({ move, isLiquidated }) => [move, isLiquidated])).toEqual([
    [0.2, false],
    [0.1, false],
    [0.05, false],
    [-0.05, false],
    [-0.1, false],
    [-0.2, true],
  ])
  expect(view.notCounted).toEqual([`${SYMBOL}: its next funding`])
  const { moves, none, reached, liquidations } = view.curve
  expect([moves.length, none[15], reached[15], none[10]]).toEqual([31, 10_000, 10_000, 5000])
  expect(reached[10]).toBe(3476)
  expect(liquidations.none).toEqual([expect.closeTo(40_000 / 0.994 / 50_000 - 1, 9)])
  expect(formatWhatIf(view, true)).toContain('equity 3,476.00 USDT (-6,524.00; fees 24.00')
})

test('exits that may close meanwhile are named as not counted', async () => {
  const bare = shown({ capital: '10000', rules: RULES })
  const strategies = new Map([
    ['grid', { exits: { stop: {} } }],
    ['calm', {}],
    ['idle', { exits: { stop: {} } }],
  ])
  const book = {
    ...bare.book,
    exits: new Map([[`${SYMBOL}|long`, { stopLossTicks: 48_000, strategyId: 'manual' }]]),
    holdings: new Map([
      [`grid|${SYMBOL}`, { longLots: 600, shortLots: 0 }],
      [`calm|${SYMBOL}`, { longLots: 400, shortLots: 0 }],
    ]),
  }
  const account = { ...bare, book, settings: { ...bare.settings, strategies } }

  const view = await look(account as unknown as ShownAccount, query())

  expect(view.notCounted.slice(-2)).toEqual([
    `${SYMBOL} long: the stop-loss at 48000 that the exchange keeps`,
    `${SYMBOL}: the exits of grid`,
  ])
})

test('a coin-margined contract is counted in its coin', async () => {
  const scene = { capital: '1', rules: RULES, productType: 'COIN-FUTURES' } as const

  const view = await look(shown(scene), query({ move: -0.2, fill: 'none' }))

  expect(view.scenario).toMatchObject({
    equity: '0.75',
    need: '0.006',
    positions: [{ worth: '1' }],
  })
  expect(formatWhatIf(view, false)).toContain('equity 0.75000000 BTC')
})

test('what is not known is said, and not counted', async () => {
  const view = await look(shown({}), query())
  const unpriced = await look(shown({ price: 0 }), query({ moves: new Map([['ETHUSDT', -0.1]]) }))

  expect(view.notCounted).toEqual([
    `${SYMBOL}: its maintenance margin (instruments.${SYMBOL}.maintenance)`,
    `${SYMBOL}: its next funding`,
    'the equity: account.capital is not set',
  ])
  expect(view.scenario).toMatchObject({
    equity: null,
    change: '-5000',
    need: null,
    marginRatio: null,
  })
  expect(view.scenario.positions).toMatchObject([{ profit: '-5000', need: null }])
  expect(formatWhatIf(view, true)).toContain('where a liquidation is on this way is not known')
  expect(unpriced.notCounted).toEqual([
    `${SYMBOL}: no price of it is known`,
    'the equity: account.capital is not set',
    'ETHUSDT is not an instrument of this account',
  ])
  const crossed = shown({ capital: '10000', rules: RULES })
  const engine = { ...crossed.engine, instrument: () => ({ setup: { marginMode: 'isolated' } }) }
  const isolated = await look({ ...crossed, engine } as unknown as ShownAccount, query())
  expect(isolated.notCounted).toContain(`${SYMBOL}: that it is held in isolated margin`)
})

test('the query of the interface is read, and a wrong one refused', () => {
  const read = (moves: string) => whatIfQuerySchema.safeParse({ move: '-0.1', moves })

  expect(read('BTCUSDT:-0.2,ETHUSDT:0.1').data?.moves).toEqual(
    new Map([
      ['BTCUSDT', -0.2],
      ['ETHUSDT', 0.1],
    ]),
  )
  expect(read('').data).toMatchObject({ move: -0.1, moves: new Map(), fill: 'reached' })
  for (const wrong of ['BTCUSDT', 'BTCUSDT:x', 'BTCUSDT:-1', ',', 'a:1:2'])
    expect(read(wrong).success).toBe(false)
})

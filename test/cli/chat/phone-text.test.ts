import { expect, test } from 'vitest'
import {
  describeOrders,
  describePositions,
  describeStatus,
  describeTrades,
} from '../../../src/cli/chat/phone-text.ts'
import type { OrderView, PositionView, StatusView } from '../../../src/control/views.ts'

const SHORT = {
  symbol: 'ETHUSDT',
  side: 'short',
  size: '0.8',
  entryPrice: 3016.367_830_73,
  markPrice: null,
  unrealisedProfit: null,
  coin: 'USDT',
  liquidation: { distance: 4.374 },
} as unknown as PositionView

const order = (given: Partial<OrderView>): OrderView =>
  ({
    symbol: 'BTCUSDT',
    strategy: 'grid',
    action: 'openShort',
    size: '0.002',
    price: '60000',
    state: 'live',
    ...given,
  }) as OrderView

test('a position says what is not known, and no price has more digits than a phone has room for', () => {
  expect(describePositions([SHORT])).toBe(
    [
      'ETHUSDT short 0.8: profit not known',
      '  from 3016.368, now not known',
      '  liquidation more than 100 % away',
    ].join('\n'),
  )
})

test('orders stand below their instrument and strategy, and say their state where it is another than live', () => {
  const orders = [
    order({}),
    order({ symbol: 'ETHUSDT', price: null }),
    order({ price: '61000', state: 'unknown' }),
  ]

  expect(describeOrders(orders)).toBe(
    [
      'BTCUSDT, grid:',
      '  open short 0.002 at 60000',
      '  open short 0.002 at 61000, unknown',
      'ETHUSDT, grid:',
      '  open short 0.002 at market',
    ].join('\n'),
  )
})

test('times of trades name their zone', () => {
  const trade = {
    journal: { run: 3, sequence: 1234 },
    strategyId: 'grid',
    symbol: 'BTCUSDT',
    side: 'long',
    closedAt: Date.UTC(2026, 0, 2, 3, 4),
    net: '1.5',
    coin: 'USDT',
    share: 0.001,
    reason: 'order',
  }

  expect(describeTrades([trade])).toBe(
    'times in UTC\n01-02 03:04 BTCUSDT long: 1.50 USDT (0.10 %), order, grid\njournal record 1234 of run 3',
  )
})

test('a text of others is one line of a status', () => {
  const reason = 'odd\npaper: active, running\u2028fine'
  const account = {
    name: 'paper',
    mode: 'halted',
    phase: 'running',
    restrictions: [{ scope: '*', mode: 'halted', reason }],
    hindrances: [reason],
    warnings: [],
    waits: [{ strategy: 'trend-btc', symbol: 'BTCUSDT', what: reason }],
    pauses: [],
    equity: null,
    coin: 'USDT',
    profit: { today: { net: '0' }, total: { netWithUnrealised: '0' } },
    positions: [],
    openOrders: {},
    unattended: [],
  }
  const lines = describeStatus({ accounts: [account], off: [] } as unknown as StatusView).split(
    /\s*[\n\u2028]/,
  )
  expect(lines.slice(0, 4)).toEqual([
    'paper: halted, running',
    '* halted: odd paper: active, running fine',
    'odd paper: active, running fine',
    'BTCUSDT: trend-btc waits for odd paper: active, running fine',
  ])
})

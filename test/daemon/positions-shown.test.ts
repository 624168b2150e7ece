import { expect, test } from 'vitest'
import { type ShownAccount } from '../../src/views/shown-account.ts'
import { viewPositions } from '../../src/views/account-view.ts'
import { formatPositions } from '../../src/cli/control/position-table.ts'
import { toStrategyId } from '../../src/domain/ids.ts'
import { FLAT, type ListedExit } from '../../src/domain/position.ts'
import { pairOf } from '../../src/engine/book/book.ts'
import { TrustedClock } from '../../src/exchange/clock/exchange-clock.ts'
import { ManualTime } from '../support/manual-time.ts'
import { madeInstrument } from '../support/market-moment.ts'

const SYMBOL = 'ETHUSDT'
const instrument = madeInstrument({ symbol: SYMBOL, tick: '0.01', lot: '0.1', lotsMin: 1 })

const EXITS = {
  stop: { kind: 'share', millionths: 20_000 },
  stopAtExchange: 25_000,
  trailing: { after: 10_000, distance: { kind: 'share', millionths: 5000 } },
}

/** One-way mode; lots by strategy, signed. */
function shown(
  held: Readonly<Record<string, number>>,
  {
    listed,
    listsExits,
    exitStates = {},
  }: {
    readonly listed?: readonly ListedExit[]
    readonly listsExits?: true
    readonly exitStates?: Readonly<Record<string, unknown>>
  } = {},
): ShownAccount {
  const kept = { strategyId: toStrategyId('holder'), stopLossTicks: 180_000, listed }
  const holding = (lots: number) => ({ longLots: Math.max(0, lots), shortLots: Math.max(0, -lots) })
  const net = Object.values(held).reduce((sum, lots) => sum + lots, 0)
  const holdings = Object.entries(held).map(([id, lots]) => [
    pairOf(toStrategyId(id), SYMBOL),
    holding(lots),
  ])
  return {
    book: {
      positionMode: 'one_way_mode',
      account: new Map([[SYMBOL, net === 0 ? FLAT : holding(net)]]),
      holdings: new Map(holdings as [string, typeof FLAT][]),
      entries: new Map(),
      exitStates: new Map(
        Object.entries(exitStates).map(([id, state]) => [pairOf(toStrategyId(id), SYMBOL), state]),
      ),
      exits: new Map(listsExits === undefined && !listed ? [] : [[`${SYMBOL}|long`, kept]]),
    },
    settings: {
      instruments: new Map([[SYMBOL, instrument]]),
      strategies: new Map([[toStrategyId('holder'), { exits: EXITS }]]),
      listsExits,
    },
    positions: new Map(),
    grids: new Map([[SYMBOL, instrument]]),
    engine: {
      positionReadAt: () => 0,
      fillsAskedAt: 0,
      distances: new Map(),
    },
    trusted: new TrustedClock(new ManualTime(1e6)),
    config: { account: { marginCoin: 'USDT' }, strategies: [] },
  } as unknown as ShownAccount
}

const rowsOf = (held: Readonly<Record<string, number>>) =>
  viewPositions(shown(held)).map(({ side, size, strategies }) => ({ side, size, strategies }))

test('what strategies hold against each other is shown, also where the account holds nothing', () => {
  expect(rowsOf({ holder: 10, grid: -10 })).toEqual([
    { side: 'flat', size: '0', strategies: { holder: '1', grid: '-1' } },
  ])
  expect(rowsOf({ holder: 10, grid: -4 })).toEqual([
    { side: 'long', size: '0.6', strategies: { holder: '1', grid: '-0.4' } },
  ])
  expect(rowsOf({ holder: 0, grid: 0 })).toEqual([])
})

test('the table says who holds it', () => {
  const table = formatPositions(viewPositions(shown({ holder: 10, grid: -10 })))

  expect(table).toContain('ETHUSDT flat')
  expect(table).toContain('holder 1, grid -1')
})

test('a stop at the exchange is said to move, to stay or to be missing', () => {
  const stop = { kind: 'stopLoss', orderId: '15', ticks: 180_000 } as const
  const say = (...from: Parameters<typeof shown>) => formatPositions(viewPositions(shown(...from)))

  expect(say({ holder: 10 }, { listed: [stop], listsExits: true })).toContain(
    'a stop-loss at 1800, and the stop-loss is moved with the exits of holder',
  )
  expect(say({ holder: 10 }, { listed: [stop] })).toContain('it does not move')
  const missing = say({ holder: 10 }, { listed: [], listsExits: true })
  expect(missing).toContain('the exchange lists no such stop-loss')
})

test('the levels of the stops that the daemon keeps for a strategy are shown', () => {
  const trade = { entryTicks: 200_000, bestTicks: 200_100, atrTicks: null }
  const say = (long: unknown) =>
    formatPositions(
      viewPositions(
        shown({ holder: 10, grid: 5 }, { exitStates: { holder: { long, short: null } } }),
      ),
    )

  expect(say(trade)).toContain('ETHUSDT long: holder closes what it holds at 1960 (the stop-loss)')
  expect(say({ ...trade, bestTicks: 210_000 })).toContain(
    'holder closes what it holds at 1960 (the stop-loss), or 2089.5 (the trailing stop)',
  )
  expect(say({ ...trade, entryTicks: null })).not.toContain('closes')
})

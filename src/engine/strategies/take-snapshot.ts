import { type FeedReading } from '../../domain/feed.ts'
import { type StrategyId } from '../../domain/ids.ts'
import { type InstrumentMoment, type Snapshot } from '../../domain/snapshot.ts'
import { type TickerTable } from '../../domain/ticker-table.ts'
import { accountHoldingOf, holdingOf, openOrdersOf } from '../book/book.ts'
import { type Core, exchangeNow, specOf, instrumentOf } from '../state/core.ts'
import { crossedOrders } from '../state/crossed-orders.ts'
import { fillsSince } from '../state/fills-since.ts'
import { freshUntil } from '../state/market-view.ts'
import { type StrategySettings } from '../settings.ts'

/** By as much our idea of the exchange's clock may be wrong. */
const CLOCK_ERROR_MS = 1000

/**
 * New prices: every strategy with fresh data is asked to decide on the same moment (MKT1, MKT2). An answer
 * that was overtaken by a later one is not news any more.
 */
export function takeSnapshot(core: Core, tickers: TickerTable): void {
  if (isOvertaken(core, tickers) || isHeardAgain(core, tickers)) return
  core.tickers = tickers
  askToDecide(core, core.settings.strategies.values())
  if (core.mode !== 'running' || !hasCrossedOrder(core)) return
  core.effects.push({ kind: 'readFills', sinceAt: fillsSince(core) })
}

/**
 * Answers overtake each other by less than a wait for one. A known time further ahead than our idea of the
 * exchange's clock was wrong, and would make every later answer look old until the clock had caught up.
 */
function isOvertaken(core: Core, { requestTime }: TickerTable): boolean {
  const latestAt = core.tickers?.requestTime ?? 0
  return requestTime < latestAt && latestAt <= exchangeNow(core) + CLOCK_ERROR_MS
}

/** The same answer once more: nobody decides twice on one moment. */
function isHeardAgain({ tickers }: Core, { requestTime, readAt }: TickerTable): boolean {
  return tickers !== undefined && requestTime === tickers.requestTime && readAt === tickers.readAt
}

/** Their own fills are as good a reason to decide again as new prices: the same prices, another position. */
export function showFills(core: Core, strategyIds: ReadonlySet<StrategyId>): void {
  const strategies = [...core.settings.strategies.values()].filter(({ id }) => strategyIds.has(id))
  if (strategies.length > 0) askToDecide(core, strategies)
}

function askToDecide(core: Core, strategies: Iterable<StrategySettings>): void {
  const { tickers } = core
  core.snapshots += 1
  if (core.mode !== 'running' || !tickers) return
  for (const strategy of strategies) {
    if (!strategy.symbols.some((symbol) => core.now <= freshUntil(core, symbol))) continue
    const snapshot = buildSnapshot(core, tickers, strategy)
    core.effects.push({ kind: 'decide', strategyId: strategy.id, snapshot })
  }
}

/** The market has reached one of our resting orders: there is a fill to read, sooner than the grid would. */
function hasCrossedOrder(core: Core): boolean {
  return [...core.instruments.values()].some((instrument) => crossedOrders(core, instrument).length > 0)
}

function buildSnapshot(core: Core, tickers: TickerTable, strategy: StrategySettings): Snapshot {
  return {
    sequence: core.snapshots,
    takenAt: core.now,
    exchangeTime: exchangeNow(core),
    tickers,
    fillsReadAt: core.fillsReadAt,
    feeds: feedsOf(core, strategy),
    instruments: strategy.symbols.map((symbol): InstrumentMoment => ({
      instrument: specOf(core, symbol),
      holding: holdingOf(core.book, strategy.id, symbol),
      accountHolding: accountHoldingOf(core.book, symbol),
      positionReadAt: instrumentOf(core, symbol).positionReadAt,
      orders: [...openOrdersOf(core.book, symbol)].filter((order) => order.terms.strategyId === strategy.id),
    })),
  }
}

function feedsOf(core: Core, { feeds }: StrategySettings): Snapshot['feeds'] {
  const readings = new Map<string, FeedReading>()
  for (const [name, feed] of feeds) {
    const reading = core.feeds.get(feed)
    if (reading) readings.set(name, reading)
  }
  return readings
}

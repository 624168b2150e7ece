import type { FeedReading } from '../../domain/feed.ts'
import type { StrategyId } from '../../domain/ids.ts'
import type { AccountMoment, InstrumentMoment, Snapshot } from '../../domain/snapshot.ts'
import type { TickerTable } from '../../domain/ticker-table.ts'
import { capitalOf, isShown } from '../book/book.ts'
import { equityOf, shownCapitalOf } from '../state/equity.ts'
import { isCandleDue, noteAsked, noteCandles } from '../state/candles.ts'
import { momentOf } from '../state/totals.ts'
import {
  exchangeNow,
  freshUntil,
  nextSnapshot,
  crossedOrders,
  isBeyondOrder,
  noteTickers,
} from '../state/market-state.ts'
import { isUndecided } from '../state/decision-state.ts'
import { type Core, emit, instrumentOf, specOf } from '../state/core.ts'
import { isProved } from '../state/instrument-state.ts'
import type { StrategySettings } from '../settings.ts'
import type { DecideOn } from '../../strategy/needs.ts'
import { hasFailed, isTrading } from '../state/trading-mode.ts'
import { noteChanged } from '../state/changes.ts'
import { judgeUniverses } from './judge-universes.ts'
import { askForFills } from '../state/readings.ts'

/** Every strategy with fresh data decides on one moment (MKT1, MKT2). */
export function takeSnapshot(core: Core, tickers: TickerTable): void {
  if (!noteTickers(core, tickers)) return
  if (core.settings.roster && core.market.contracts) judgeUniverses(core, tickers)
  if (core.candles.needed.size > 0) noteCandles(core, tickers)
  askToDecide(core, 'snapshot', core.settings.strategies.values())
  if (isTrading(core) && noteCrossing(core)) askForFills(core)
}

/** Closed candles are shown with the next snapshot. */
type DecisionCause = Exclude<DecideOn, 'candle'>

/** Strategies decide after their own fills: the prices are the same, the position is not. */
export function askAfterFills(core: Core, strategyIds: ReadonlySet<StrategyId>): void {
  if (strategyIds.size === 0) return
  const strategies = [...core.settings.strategies.values()].filter(({ id }) => strategyIds.has(id))
  if (strategies.length > 0) askToDecide(core, 'fill', strategies)
}

export function askToDecide(
  core: Core,
  cause: DecisionCause,
  strategies: Iterable<StrategySettings>,
): void {
  const { tickers } = core.market
  nextSnapshot(core)
  if (!isTrading(core) || !tickers) return
  for (const strategy of strategies) {
    if (strategy.isByHand || hasFailed(core, strategy.id)) continue
    if (!isToAsk(core, cause, strategy)) continue
    if (!tradesAny(core, strategy)) continue
    if (core.candles.due.size > 0) noteAsked(core, strategy.id)
    const snapshot = buildSnapshot(core, tickers, strategy)
    emit(core, { kind: 'decide', strategyId: strategy.id, snapshot })
  }
}

/**
 * A strategy is asked for a cause that it named, and at the first snapshot after a release or after
 * its instrument was proved. If a candle closed while it could not be asked, it is asked later.
 */
function isToAsk(
  core: Core,
  cause: DecisionCause,
  { id, decides, symbols }: StrategySettings,
): boolean {
  if (decides === undefined || decides.includes('snapshot') || decides.includes(cause)) return true
  return isCandleDue(core, id) || symbols.some((symbol) => isUndecided(core, id, symbol))
}

function tradesAny(core: Core, { symbols }: StrategySettings): boolean {
  for (const symbol of symbols) {
    if (core.now <= freshUntil(core, symbol) && isProved(instrumentOf(core, symbol))) return true
  }
  return false
}

/** Marks instruments whose prices passed an order of ours, since its fill is read at once. */
function noteCrossing(core: Core): boolean {
  let hasCrossed = false
  for (const symbol of core.instruments.keys()) {
    if (!isBeyondOrder(core, symbol)) continue
    noteChanged(core.changes, symbol)
    hasCrossed ||= crossedOrders(core, symbol).length > 0
  }
  return hasCrossed
}

function buildSnapshot(core: Core, tickers: TickerTable, strategy: StrategySettings): Snapshot {
  return {
    sequence: core.market.snapshots,
    takenAt: core.now,
    exchangeTime: exchangeNow(core),
    tickers,
    fillsReadAt: core.readings.fillsKnownUntil,
    feeds: feedsOf(core, strategy),
    candles: core.book.candles,
    account: new LazyAccountMoment(core, strategy.id),
    instruments: momentsOf(core, strategy),
    ...(tickers.market && { market: tickers.market }),
  }
}

function momentsOf(core: Core, { id, symbols }: StrategySettings): InstrumentMoment[] {
  const { leavings } = core.book
  const shown = leavings.size === 0 ? symbols : symbols.filter((one) => isShown(core.book, id, one))
  return shown.map((symbol) => {
    const instrument = instrumentOf(core, symbol)
    const readAt = isProved(instrument) ? instrument.position.agreedAt : 0
    return momentOf(core, id, specOf(core, symbol), readAt)
  })
}

/** Copies nothing before a strategy asks, which is before the core changes again. */
class LazyAccountMoment implements AccountMoment {
  readonly #core: Core
  readonly #id: StrategyId

  constructor(core: Core, id: StrategyId) {
    this.#core = core
    this.#id = id
  }

  get capital(): AccountMoment['capital'] {
    return capitalOf(this.#core)
  }
  get equity(): AccountMoment['equity'] {
    return equityOf(this.#core)
  }
  get ownCapital(): AccountMoment['ownCapital'] {
    return shownCapitalOf(this.#core, this.#id)
  }
  get money(): AccountMoment['money'] {
    return this.#core.book.money
  }
  get funding(): AccountMoment['funding'] {
    return this.#core.book.funding
  }
  get marks(): AccountMoment['marks'] {
    return this.#core.market.marks
  }
  get holdings(): AccountMoment['holdings'] {
    return this.#core.book.account
  }
  get distances(): AccountMoment['distances'] {
    return this.#core.liquidation.distances
  }
  get fundingMinutes(): AccountMoment['fundingMinutes'] {
    return this.#core.settings.fundingMinutes ?? NO_MINUTES
  }
}

const NO_MINUTES: readonly number[] = []

function feedsOf(core: Core, { feeds }: StrategySettings): Snapshot['feeds'] {
  if (feeds.size === 0) return NO_FEEDS
  const readings = new Map<string, FeedReading>()
  for (const [name, feed] of feeds) {
    const reading = core.market.feeds.get(feed) ?? core.book.signals.get(feed)
    if (reading) readings.set(name, reading)
  }
  return readings
}

const NO_FEEDS: Snapshot['feeds'] = new Map()

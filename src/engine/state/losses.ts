import type { Equity, UsedLoss, Watermark } from '../../domain/loss-limits.ts'
import { FLAT, type Holding, isFlat, type PositionReading } from '../../domain/position.ts'
import { ACCOUNT, type Scope, strategyScope } from '../../domain/trading-mode.ts'
import { floatOnGrid } from '../../lib/grid.ts'
import { own } from '../../lib/own.ts'
import { startOfDay } from '../../lib/start-of-day.ts'
import { moneyOf } from '../book/apply-fill.ts'
import { accountHoldingOf, holdingOf, pairKey, splitPair } from '../book/book.ts'
import type { StrategySettings } from '../settings.ts'
import { type Core, record, specOf } from './core.ts'
import { marketOf } from './market-state.ts'

/** The shortest day, when clocks are put forward, in ms. */
const DAY_MS_MIN = 23 * 3_600_000
/** A peak is recorded when it has risen by this share of the account's equity, or of the tightest limit of a scope. */
const PEAK_STEP_OF_EQUITY = 0.001
const PEAK_STEP_OF_LIMIT = 0.1

/** Notes what the account held when the exchange said what that is worth. */
export function noteReadHolding({ losses }: Core, { symbol, rows }: PositionReading): void {
  let { longLots, shortLots } = FLAT
  for (const row of rows) {
    if (row.holdSide === 'long') longLots += row.lots
    else shortLots += row.lots
  }
  own(losses.readHoldings).set(symbol, { longLots, shortLots })
}

/**
 * Keeps what the instrument has made, at a moment when the exchange's reading and the book's fills are about the same
 * position: otherwise a profit could count both as realised and as unrealised.
 */
export function noteNet(core: Core, symbol: string): void {
  const { book, losses, market } = core
  const read = losses.readHoldings.get(symbol)
  const mark = market.marks.get(symbol)
  if (!mark || !isSame(read, accountHoldingOf(book, symbol))) return
  own(losses.netBySymbol).set(symbol, settledOf(core, symbol) + mark.unrealised)
}

function isSame(read: Holding | undefined, held: Holding): boolean {
  return read?.longLots === held.longLots && read.shortLots === held.shortLots
}

/** Realised profit less fees, and funding, of all owners on the instrument. */
function settledOf({ book }: Core, symbol: string): number {
  let net = Number(book.funding.get(symbol)?.toString() ?? 0)
  for (const [pair, { profit, fees }] of moneyOf(book)) {
    if (splitPair(pair)[1] === symbol) net += Number(profit.minus(fees).toString())
  }
  return net
}

/**
 * Net profit of a scope since the journal began, in the margin coin: realised less fees, plus unrealised, and, except for
 * a strategy, plus funding. Undefined while a part of it is not known.
 */
function netProfitOf(core: Core, scope: Scope): number | undefined {
  const strategy = [...core.settings.strategies.values()].find(({ id }) => strategyScope(id) === scope)
  if (strategy) return strategyNet(core, strategy)
  const { netBySymbol } = core.losses
  if (scope !== ACCOUNT) return netBySymbol.get(scope)
  let net = 0
  for (const symbol of core.settings.instruments.keys())
    net += netBySymbol.get(symbol) ?? unreadNetOf(core, symbol)
  for (const symbol of otherSymbols(core)) net += settledOf(core, symbol)
  return Number.isNaN(net) ? undefined : net
}

/** For an instrument whose position was not read in this run yet: where nothing is held nothing is unrealised. */
function unreadNetOf(core: Core, symbol: string): number {
  const isKnown = core.readings.fillsReadAt > 0 && isFlat(accountHoldingOf(core.book, symbol))
  return isKnown ? settledOf(core, symbol) : Number.NaN
}

/** The equity of the account in the margin coin; undefined while it is not known. */
export function equityOf(core: Core): number | undefined {
  const net = netProfitOf(core, ACCOUNT)
  const { capital } = core.settings
  return net === undefined || capital === undefined ? undefined : Number(capital.toString()) + net
}

/** The equity with its peak: both what is shown and what is limited come from here. */
export function accountEquityOf(core: Core): Equity | undefined {
  const equity = equityOf(core)
  if (equity === undefined) return undefined
  const { book, losses, settings } = core
  const net = losses.peaks.get(ACCOUNT) ?? book.watermarks.get(ACCOUNT)?.peak ?? Number.NEGATIVE_INFINITY
  const peak = Math.max(equity, Number(settings.capital?.toString()) + net)
  return { equity, peak, drawdown: peak - equity }
}

/** Keeps the peak of an account whose losses are not limited: it is shown, but not recorded. */
export function notePeak(core: Core): void {
  const net = netProfitOf(core, ACCOUNT)
  if (net === undefined) return
  own(core.losses.peaks).set(ACCOUNT, Math.max(net, core.losses.peaks.get(ACCOUNT) ?? net))
}

/** Instruments that were traded and are not configured any more. */
function otherSymbols({ book, settings }: Core): ReadonlySet<string> {
  const symbols = [...book.funding.keys(), ...[...moneyOf(book).keys()].map((pair) => splitPair(pair)[1])]
  return new Set(symbols.filter((symbol) => !settings.instruments.has(symbol)))
}

function strategyNet(core: Core, { id, symbols }: StrategySettings): number | undefined {
  let net = 0
  for (const symbol of symbols) {
    const money = core.book.money.get(pairKey(id, symbol))
    if (money) net += Number(money.profit.minus(money.fees).toString())
    net += unrealisedOf(core, id, symbol)
  }
  return Number.isNaN(net) ? undefined : net
}

/** The unrealised profit of a strategy on all of its instruments; undefined where it is not known. */
export function unrealisedOfStrategy(core: Core, strategyId: string): number | undefined {
  const strategy = [...core.settings.strategies.values()].find(({ id }) => id === strategyId)
  if (!strategy) return undefined
  const sum = strategy.symbols.reduce((known, symbol) => known + unrealisedOf(core, strategy.id, symbol), 0)
  return Number.isNaN(sum) ? undefined : sum
}

/** The unrealised profit of a strategy at the mark price; NaN where that price, or what it paid, is not known. */
function unrealisedOf(core: Core, id: StrategySettings['id'], symbol: string): number {
  const { longLots, shortLots } = holdingOf(core.book, id, symbol)
  if (longLots === 0 && shortLots === 0) return 0
  const entry = core.book.ownTrades.get(pairKey(id, symbol))?.entry
  if (!entry || entry.longLots < longLots || entry.shortLots < shortLots) return Number.NaN
  const { tick, lot } = specOf(core, symbol)
  const marked = core.market.marks.get(symbol)?.markPrice ?? 0
  const price = marked > 0 ? marked : marketOf(core, symbol).last
  const long = (price - entry.longTicks * floatOnGrid(tick, 1)) * floatOnGrid(lot, longLots)
  const short = (entry.shortTicks * floatOnGrid(tick, 1) - price) * floatOnGrid(lot, shortLots)
  return (longLots > 0 ? long : 0) + (shortLots > 0 ? short : 0)
}

/**
 * Works out what a scope has lost since the beginning of its day and since its peak, and records the values from which it
 * counts when they have changed enough. Undefined while the net profit is not known.
 */
export function measureLoss(core: Core, scope: Scope, timeZone: string): UsedLoss | undefined {
  const net = netProfitOf(core, scope)
  if (net === undefined) return undefined
  const known = core.book.watermarks.get(scope)
  const isNewDay = known === undefined || isDayOver(core.now, known.dayFrom, timeZone)
  const dayNet = isNewDay || known.dayNet === null ? net : known.dayNet
  const isPeakKnown = known !== undefined && known.peak !== null
  const peak = isPeakKnown ? Math.max(net, known.peak ?? net, core.losses.peaks.get(scope) ?? net) : net
  own(core.losses.peaks).set(scope, peak)
  const hasRisen = !isPeakKnown || peak - (known.peak ?? 0) > peakStepOf(core, scope, peak)
  const dayFrom = isNewDay ? startOfDay(core.now, timeZone) : known.dayFrom
  if (isNewDay || known.dayNet === null || hasRisen) {
    writeDown(core, [{ scope, dayFrom, dayNet, peak: hasRisen ? peak : (known?.peak ?? peak) }])
  }
  const capital = Number(core.settings.capital?.toString())
  const drawdown = Math.max(0, peak - net)
  const used = {
    ...{ scope, net, drawdown, dayLoss: Math.max(0, dayNet - net) },
    ...(scope === ACCOUNT && capital > 0 && { drawdownShare: drawdown / Math.max(capital + peak, 1e-9) }),
  }
  own(core.losses.used).set(scope, used)
  return used
}

function isDayOver(now: number, dayFrom: number, timeZone: string): boolean {
  // A time in the future: the clock of this machine was ahead then.
  if (dayFrom - now > DAY_MS_MIN) return true
  return now - dayFrom >= DAY_MS_MIN && startOfDay(now, timeZone) > dayFrom
}

function peakStepOf({ settings }: Core, scope: Scope, peak: number): number {
  const { daily = Number.POSITIVE_INFINITY, drawdown } = settings.losses?.limits.get(scope) ?? {}
  const equity = Math.max(0, Number(settings.capital?.toString() ?? 0) + peak)
  const ofEquity = settings.capital === undefined ? Number.POSITIVE_INFINITY : equity * PEAK_STEP_OF_EQUITY
  const amounts = scope === ACCOUNT ? [] : Object.values(drawdown ?? {})
  const step = Math.min(ofEquity, Math.min(daily, ...amounts) * PEAK_STEP_OF_LIMIT)
  return Number.isFinite(step) ? step : 0
}

function writeDown(core: Core, watermarks: readonly Watermark[]): void {
  record(core, { kind: 'watermark', at: core.now, watermarks })
}

/** Before a stop, records the peaks that have not risen by enough before. */
export function writePeaks(core: Core): void {
  const risen = [...core.losses.peaks].flatMap(([scope, peak]) => {
    const known = core.book.watermarks.get(scope)
    return known && known.peak !== null && peak > known.peak ? [{ ...known, peak }] : []
  })
  if (risen.length > 0) writeDown(core, risen)
}

/** Whether the scope has passed the first step of its drawdown since this was last asked. */
export function noteWarned({ losses }: Core, scope: Scope, isBeyond: boolean): boolean {
  const isNews = isBeyond && !losses.warned.has(scope)
  if (isBeyond) own(losses.warned).add(scope)
  else own(losses.warned).delete(scope)
  return isNews
}

import {
  addTick,
  candleKey,
  type CandleRow,
  formatInterval,
  newestOpenAt,
  openCandle,
  openOf,
  read,
  toRow,
  toRows,
} from '../../domain/candles.ts'
import { type StrategyId } from '../../domain/ids.ts'
import { type TickerTable } from '../../domain/ticker-table.ts'
import { own } from '../../lib/own.ts'
import { type EngineSettings } from '../settings.ts'
import { exchangeNow } from './clock-state.ts'
import { type Core, type NeededCandles, record } from './core.ts'

/** By as much a ticker may be dated later than the answer that it stands in, ms. */
const TICKER_AHEAD_MS = 1000

/** One series for all strategies that need the same: as long as the longest need. */
export function toNeededCandles({ strategies }: EngineSettings): ReadonlyMap<string, NeededCandles> {
  const needed = new Map<string, NeededCandles>()
  for (const { id, symbols, candles = NO_CANDLES, decides = [] } of strategies.values()) {
    for (const [intervalMs, count] of candles) {
      for (const symbol of symbols) {
        const key = candleKey(symbol, intervalMs)
        const { capacity = 0, deciders = [] } = needed.get(key) ?? {}
        needed.set(key, {
          ...{ symbol, intervalMs, capacity: Math.max(capacity, count) },
          deciders: decides.includes('candle') ? [...deciders, id] : deciders,
        })
      }
    }
  }
  return needed
}

const NO_CANDLES: ReadonlyMap<number, number> = new Map()

/** The series that nobody needs any more are forgotten: a run begins. */
export function dropUnneededCandles(core: Core): void {
  for (const [key, { intervalMs }] of core.book.candles) {
    if (core.candles.needed.has(key)) continue
    const symbol = key.slice(0, key.lastIndexOf('|'))
    record(core, { kind: 'candles', at: core.now, symbol, intervalMs, capacity: 0, candles: [] })
  }
}

/**
 * Takes the last prices into the candles, by the exchange's times alone. A candle closes when a ticker of a later
 * interval is there, or when the exchange's clock has passed its end by the age at which prices are not decided on any
 * more: what comes later than that is of no use to anybody.
 */
export function noteCandles(core: Core, tickers: TickerTable): void {
  const { startedAt, phase } = core.run
  // The boot is the first record of a run, and after a stop there is none.
  if (core.candles.needed.size === 0 || startedAt === 0 || phase === 'stopped') return
  // Whichever of the two clocks is wrong: what it says must not close candles of the future.
  const now = Math.min(tickers.requestTime, exchangeNow(core) + TICKER_AHEAD_MS)
  for (const [key, needed] of core.candles.needed) {
    const { symbol, intervalMs } = needed
    const row = tickers.rowOf(symbol)
    const at = tickers.columns.ts[row] ?? Number.NaN
    const price = tickers.columns.lastPr[row] ?? Number.NaN
    const isTick = price > 0 && price < Number.POSITIVE_INFINITY && at <= now + TICKER_AHEAD_MS
    const openAt = isTick ? openOf(at, intervalMs) : Number.NEGATIVE_INFINITY
    if (!core.candles.wholeFrom.has(key)) {
      if (!isTick) continue
      begin(core, key, needed, openAt)
    }
    const passedAt = openOf(now - core.settings.limits.dataAgeMaxMs, intervalMs)
    closeBefore(core, key, needed, Math.max(passedAt, openAt))
    if (isTick) takeTick(core, key, { openAt, price, at })
  }
}

interface Tick {
  readonly openAt: number
  readonly price: number
  readonly at: number
}

function takeTick(core: Core, key: string, { openAt, price, at }: Tick): void {
  const open = core.candles.open.get(key)
  if (open === undefined) {
    // One that was late belongs to a candle that has closed.
    if (openAt > newestOf(core, key)) own(core.candles).open.set(key, openCandle(openAt, price, at))
  } else if (at > open.lastAt && openAt === open.openAt) addTick(open, price, at)
}

/** Closes what ends at or before an instant, where a later interval begins: Unix ms, exchange clock. */
function closeBefore(core: Core, key: string, needed: NeededCandles, before: number): void {
  const { open, wholeFrom } = core.candles
  const candle = open.get(key)
  const { intervalMs } = needed
  const rows: CandleRow[] = []
  if (candle && candle.openAt < before) {
    own(core.candles).open.delete(key)
    const isWhole = candle.openAt >= (wholeFrom.get(key) ?? 0)
    // After a restart half a candle is better than none; at the very beginning it has no open.
    if (isWhole || core.book.candles.get(key)?.length) rows.push(toRow(candle))
  }
  const newest = rows[0]?.[0] ?? newestOf(core, key)
  const last = before - intervalMs
  if (newest !== Number.NEGATIVE_INFINITY && newest < last) rows.push(flatRow(core, key, rows[0], last))
  if (rows.length > 0) close(core, needed, rows)
}

/** Intervals in which nobody saw a price repeat the close before them; the fold fills those between. */
function flatRow(core: Core, key: string, candle: CandleRow | undefined, openAt: number): CandleRow {
  const series = core.book.candles.get(key)
  const price = candle?.[4] ?? (series ? read(series, 'close', series.length - 1) : Number.NaN)
  return [openAt, price, price, price, price, 0]
}

function newestOf({ book }: Core, key: string): number {
  const series = book.candles.get(key)
  return series === undefined ? Number.NEGATIVE_INFINITY : newestOpenAt(series)
}

function close(
  core: Core,
  { symbol, intervalMs, capacity, deciders }: NeededCandles,
  candles: CandleRow[],
): void {
  record(core, { kind: 'candles', at: core.now, symbol, intervalMs, capacity, candles })
  for (const id of deciders) own(core.candles).due.add(id)
}

/** The first ticker of a run: what files say of the time before it is taken in, where the book does not know it. */
function begin(
  core: Core,
  key: string,
  { symbol, intervalMs, capacity }: NeededCandles,
  openAt: number,
): void {
  own(core.candles).wholeFrom.set(key, openAt + intervalMs)
  const known = core.book.candles.get(key)
  const kept = known ? toRows(known) : []
  const [from, to] = [kept[0]?.[0] ?? Number.POSITIVE_INFINITY, kept.at(-1)?.[0] ?? Number.NEGATIVE_INFINITY]
  const older: CandleRow[] = []
  const newer: CandleRow[] = []
  for (const row of historyOf(core, key)) {
    if (row[0] < from && row[0] < openAt && kept.length < capacity) older.push(row)
    else if (row[0] > to && row[0] < openAt) newer.push(row)
  }
  if (older.length + newer.length === 0) return
  const candles = [...older, ...kept, ...newer].slice(-capacity)
  record(core, { kind: 'candles', at: core.now, symbol, intervalMs, capacity, candles, isAnew: true })
}

/** What the strategies know of the time before, together. */
function historyOf({ settings }: Core, key: string): readonly CandleRow[] {
  const byOpenAt = new Map<number, CandleRow>()
  for (const { history } of settings.strategies.values()) {
    for (const row of history?.get(key) ?? []) byOpenAt.set(row[0], row)
  }
  return [...byOpenAt.values()].toSorted(([one], [other]) => one - other)
}

/** What strategies still wait for, a sentence each: closed candles, and when the last of them will be there. */
export function listMissingCandles(core: Core): readonly string[] {
  const lines: string[] = []
  for (const { id, symbols, candles = NO_CANDLES } of core.settings.strategies.values()) {
    for (const symbol of symbols) {
      for (const [intervalMs, needed] of candles) {
        const key = candleKey(symbol, intervalMs)
        const length = core.book.candles.get(key)?.length ?? 0
        if (length >= needed) continue
        // The first that is seen from its beginning, or the one behind those that are there.
        const nextAt =
          length === 0
            ? (core.candles.wholeFrom.get(key) ?? openOf(exchangeNow(core), intervalMs) + intervalMs)
            : newestOf(core, key) + intervalMs
        const readyAt = new Date(nextAt + (needed - length) * intervalMs).toISOString()
        lines.push(
          `${id} ${symbol}: ${length} of ${needed} candles of ${formatInterval(intervalMs)}, all at ${readyAt}`,
        )
      }
    }
  }
  return lines
}

export function isCandleDue({ candles }: Core, id: StrategyId): boolean {
  return candles.due.has(id)
}

/** The strategy is asked now. */
export function noteAsked({ candles }: Core, id: StrategyId): void {
  if (candles.due.size > 0) own(candles).due.delete(id)
}

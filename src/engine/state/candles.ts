import {
  addTick,
  candleKey,
  type CandleRow,
  formatInterval,
  newestOpenAt,
  openCandle,
  openOf,
  readCandle,
  toRow,
  toRows,
} from '../../domain/candles.ts'
import type { StrategyId } from '../../domain/ids.ts'
import { isCountable } from '../../domain/instrument.ts'
import type { TickerTable } from '../../domain/ticker-table.ts'
import { mutable } from '../../lib/mutable.ts'
import type { FetchedCandles } from '../event.ts'
import type { EngineSettings } from '../settings.ts'
import { exchangeNow } from './market-state.ts'
import { announce, type Core, type NeededCandles, record, specOf } from './core.ts'

/** A ticker may be dated so much later than its answer. */
const TICKER_AHEAD_MS = 1000

/** Strategies share a series, which is as long as the longest need. */
export function toNeededCandles({
  strategies,
}: Pick<EngineSettings, 'strategies'>): ReadonlyMap<string, NeededCandles> {
  const needed = new Map<string, NeededCandles>()
  for (const { symbols, exits } of strategies.values()) {
    for (const symbol of exits?.atr === undefined ? [] : symbols) {
      const { intervalMs, period } = exits?.atr ?? { intervalMs: 0, period: 0 }
      const capacity = period * ATR_CANDLES
      const key = candleKey(symbol, intervalMs)
      if (capacity > (needed.get(key)?.capacity ?? 0))
        needed.set(key, { symbol, intervalMs, capacity, deciders: [] })
    }
  }
  for (const { id, symbols, candles = NO_CANDLES, decides = [] } of strategies.values()) {
    for (const [intervalMs, count] of candles) {
      for (const symbol of symbols) {
        const key = candleKey(symbol, intervalMs)
        const { capacity = 0, deciders = [] } = needed.get(key) ?? {}
        needed.set(key, {
          symbol,
          intervalMs,
          capacity: Math.max(capacity, count),
          deciders: decides.includes('candle') ? [...deciders, id] : deciders,
        })
      }
    }
  }
  return needed
}

/** An ATR looks back on so many candles for each of its period. */
export const ATR_CANDLES = 16

const NO_CANDLES: ReadonlyMap<number, number> = new Map()

/** Called when instruments have come or gone. */
export function followRoster(core: Core): void {
  const candles = mutable(core.candles)
  candles.needed = new Map(toNeededCandles(core.settings))
  for (const kept of [candles.open, candles.wholeFrom])
    for (const key of Array.from(kept.keys())) if (!candles.needed.has(key)) kept.delete(key)
  dropUnneededCandles(core)
}

export function dropUnneededCandles(core: Core): void {
  for (const [key, { intervalMs }] of core.book.candles) {
    if (core.candles.needed.has(key)) continue
    const symbol = key.slice(0, key.lastIndexOf('|'))
    record(core, { kind: 'candles', at: core.now, symbol, intervalMs, capacity: 0, candles: [] })
  }
}

/**
 * Only the exchange's times count. A candle closes at a ticker of a later interval, or when the
 * exchange's clock is beyond its end by the maximum age of prices.
 */
export function noteCandles(core: Core, tickers: TickerTable): void {
  const { startedAt, phase } = core.run
  // No record may come before the boot, nor after a stop.
  if (startedAt === 0 || phase === 'stopped') return
  // The earlier clock counts: a wrong one must not close candles of the future.
  const now = Math.min(tickers.requestTime, exchangeNow(core) + TICKER_AHEAD_MS)
  for (const [key, needed] of core.candles.needed) {
    const { symbol, intervalMs } = needed
    const row = tickers.rowOf(symbol)
    const at = tickers.columns.ts[row] ?? Number.NaN
    const price = tickers.columns.lastPr[row] ?? Number.NaN
    const isTick = isCountable(specOf(core, symbol), price) && at <= now + TICKER_AHEAD_MS
    const openAt = isTick ? openOf(at, intervalMs) : Number.NEGATIVE_INFINITY
    if (!core.candles.wholeFrom.has(key)) {
      if (!isTick) continue
      beginSeries(core, key, needed, openAt)
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
    // A late ticker belongs to a closed candle.
    if (openAt > newestOf(core, key))
      mutable(core.candles).open.set(key, openCandle(openAt, price, at))
  } else if (at > open.lastAt && openAt === open.openAt) addTick(open, price, at)
}

/** @param before the beginning of a later interval; Unix ms, exchange clock */
function closeBefore(core: Core, key: string, needed: NeededCandles, before: number): void {
  const { open, wholeFrom } = core.candles
  const candle = open.get(key)
  const { intervalMs } = needed
  const rows: CandleRow[] = []
  if (candle && candle.openAt < before) {
    mutable(core.candles).open.delete(key)
    const isWhole = candle.openAt >= (wholeFrom.get(key) ?? 0)
    // A recording knows how a closed candle began. Without one, after a restart, a partial candle
    // is better than a gap; at the very beginning it would have a wrong open.
    const recorded = recordedRow(core, needed, candle.openAt)
    if (recorded !== undefined || isWhole || core.book.candles.get(key)?.length) {
      rows.push(recorded ?? toRow(candle))
    }
  }
  const newest = () => rows.at(-1)?.[0] ?? newestOf(core, key)
  const last = before - intervalMs
  if (newest() === Number.NEGATIVE_INFINITY) return
  rows.push(...unseenRows(core, needed, { after: newest(), before }))
  if (newest() < last) rows.push(flatRow(core, key, rows.at(-1), last))
  if (rows.length > 0) closeCandles(core, needed, rows)
}

function recordedRow(
  { settings }: Core,
  { symbol, intervalMs }: NeededCandles,
  openAt: number,
): CandleRow | undefined {
  return settings.recordedCandle?.(symbol, intervalMs, openAt)
}

/** Recorded candles in which the prices were not looked at. */
function unseenRows(
  core: Core,
  needed: NeededCandles,
  { after, before }: { readonly after: number; readonly before: number },
): readonly CandleRow[] {
  if (core.settings.recordedCandle === undefined) return []
  const { intervalMs, capacity } = needed
  const rows: CandleRow[] = []
  let openAt = Math.max(after + intervalMs, before - capacity * intervalMs)
  for (; openAt < before; openAt += intervalMs) {
    const row = recordedRow(core, needed, openAt)
    if (row) rows.push(row)
  }
  return rows
}

/** Repeats the close before; the fold fills the candles in between. */
function flatRow(
  core: Core,
  key: string,
  candle: CandleRow | undefined,
  openAt: number,
): CandleRow {
  const series = core.book.candles.get(key)
  const price =
    candle?.[4] ?? (series ? readCandle(series, 'close', series.length - 1) : Number.NaN)
  return [openAt, price, price, price, price, 0]
}

function newestOf({ book }: Core, key: string): number {
  const series = book.candles.get(key)
  return series === undefined ? Number.NEGATIVE_INFINITY : newestOpenAt(series)
}

function closeCandles(
  core: Core,
  { symbol, intervalMs, capacity, deciders }: NeededCandles,
  candles: CandleRow[],
): void {
  record(core, { kind: 'candles', at: core.now, symbol, intervalMs, capacity, candles })
  for (const id of deciders) mutable(core.candles).due.add(id)
}

function beginSeries(core: Core, key: string, needed: NeededCandles, openAt: number): void {
  const { symbol, intervalMs, capacity } = needed
  mutable(core.candles).wholeFrom.set(key, openAt + intervalMs)
  const known = core.book.candles.get(key)
  const kept = known ? toRows(known) : []
  const [from, to] = [
    kept[0]?.[0] ?? Number.POSITIVE_INFINITY,
    kept.at(-1)?.[0] ?? Number.NEGATIVE_INFINITY,
  ]
  const older: CandleRow[] = []
  const newer: CandleRow[] = []
  for (const row of [...historyOf(core, key), ...missedRows(core, needed, openAt)]) {
    if (row[0] < from && row[0] < openAt && kept.length < capacity) older.push(row)
    else if (row[0] > to && row[0] < openAt) newer.push(row)
  }
  if (older.length + newer.length === 0) return
  const candles = [...older, ...kept, ...newer].slice(-capacity)
  record(core, {
    kind: 'candles',
    at: core.now,
    symbol,
    intervalMs,
    capacity,
    candles,
    isAnew: true,
  })
}

function missedRows(core: Core, needed: NeededCandles, before: number): readonly CandleRow[] {
  const known = historyOf(core, candleKey(needed.symbol, needed.intervalMs)).at(-1)
  return unseenRows(core, needed, { after: known?.[0] ?? Number.NEGATIVE_INFINITY, before })
}

/** Fills gaps, and candles in which no price was seen, unless they are of another market. */
export function takeFetchedCandles(core: Core, fetched: FetchedCandles): void {
  const { symbol, intervalMs, rows } = fetched
  const key = candleKey(symbol, intervalMs)
  const needed = core.candles.needed.get(key)
  const { startedAt, phase } = core.run
  if (needed === undefined || startedAt === 0 || phase === 'stopped') return
  const runningAt = core.candles.open.get(key)?.openAt ?? openOf(exchangeNow(core), intervalMs)
  const closed = rows.filter(([openAt]) => openAt < runningAt)
  const known = core.book.candles.get(key)
  const kept = known ? toRows(known) : []
  const interval = formatInterval(intervalMs)
  const price = core.candles.open.get(key)?.close
  const { differing, compared } = compareCandles(kept, closed, { price, running: fetched.running })
  if (differing.length > 0) {
    const since = new Date(differing[0]?.[0] ?? 0).toISOString()
    const facts = { symbol, interval, differing: differing.length, compared, since }
    announce(core, 'warn', 'history.differs', facts)
    if (differing.length > compared * DIFFERING_SHARE_MAX) return
  }
  joinRunning(core, key, fetched.running)
  const byOpenAt = new Map(closed.map((row) => [row[0], row]))
  for (const row of kept) if (isSeen(row) || !byOpenAt.has(row[0])) byOpenAt.set(row[0], row)
  const { capacity } = needed
  const candles = [...byOpenAt.values()].toSorted(([one], [other]) => one - other).slice(-capacity)
  const before = new Set(kept.filter(isSeen).map(([openAt]) => openAt))
  const taken = candles.filter((row) => isSeen(row) && !before.has(row[0])).length
  if (taken === 0) return
  const series = { kind: 'candles', symbol, intervalMs, capacity, candles } as const
  record(core, { ...series, at: core.now, isAnew: true })
  for (const id of needed.deciders) mutable(core.candles).due.add(id)
  announce(core, 'info', 'history.fetched', { candles: taken, interval, symbol })
}

/** Even of one market some candles differ, since we see it only when polled. */
const DIFFERING_SHARE_MAX = 0.1
/** Closes are compared with the candle's range, and at least with this share of the price. */
const CLOSE_REACH = 0.001
/** No market moves so far that indicators should begin on it. */
const PRICE_REACH = 0.25

/** The candle holds a price, and does not repeat the close before. */
function isSeen([, , , , , ticks]: CandleRow): boolean {
  return ticks > 0
}

interface PresentPrice {
  readonly price: number | undefined
  readonly running: CandleRow | undefined
}

/** If none of the fetched candles is known, the newest is compared with the present price. */
function compareCandles(
  kept: readonly CandleRow[],
  fetched: readonly CandleRow[],
  { price, running = fetched.at(-1) }: PresentPrice,
) {
  const seen = new Map(kept.filter(isSeen).map((row) => [row[0], row]))
  const common = fetched.filter(([openAt]) => seen.has(openAt))
  const differing = common.filter(([openAt, , high, low, theirs]) => {
    const ours = seen.get(openAt)?.[4] ?? theirs
    return Math.abs(ours - theirs) > Math.max(high - low, theirs * CLOSE_REACH)
  })
  if (common.length > 0 || price === undefined || running === undefined)
    return { differing, compared: common.length }
  const isFar = Math.abs(running[4] - price) > price * PRICE_REACH
  return { differing: isFar ? [running] : [], compared: 1 }
}

function joinRunning(core: Core, key: string, running: CandleRow | undefined): void {
  const open = core.candles.open.get(key)
  if (running === undefined || open?.openAt !== running[0]) return
  const [openAt, first, high, low] = running
  const joined = { ...open, openAt, open: first }
  joined.high = Math.max(open.high, high)
  joined.low = Math.min(open.low, low)
  mutable(core.candles).open.set(key, joined)
}

function historyOf({ settings }: Core, key: string): readonly CandleRow[] {
  const byOpenAt = new Map<number, CandleRow>()
  for (const { history } of settings.strategies.values()) {
    for (const row of history?.get(key) ?? []) byOpenAt.set(row[0], row)
  }
  return [...byOpenAt.values()].toSorted(([one], [other]) => one - other)
}

export function listMissingCandles(core: Core): readonly string[] {
  const lines: string[] = []
  for (const { id, symbols, candles = NO_CANDLES } of core.settings.strategies.values()) {
    for (const symbol of symbols) {
      for (const [intervalMs, needed] of candles) {
        const key = candleKey(symbol, intervalMs)
        const length = core.book.candles.get(key)?.length ?? 0
        if (length >= needed) continue
        const nextAt =
          length === 0
            ? (core.candles.wholeFrom.get(key) ??
              openOf(exchangeNow(core), intervalMs) + intervalMs)
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

export function noteAsked({ candles }: Core, id: StrategyId): void {
  mutable(candles).due.delete(id)
}

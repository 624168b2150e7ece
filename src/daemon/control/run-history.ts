import {
  CANDLE_INTERVALS_MS,
  type CandleDetail,
  type CurvesView,
  type DenialsView,
} from '../../control/detail-views.ts'
import type { TickerTable } from '../../domain/ticker-table.ts'
import type { AccountStatusView } from '../../control/views.ts'
import type { LoggedFact } from '../../logging/logger.ts'

/** Half an hour of candles of 5 s, six hours of 1 m, nearly four days of 15 m. */
const CANDLES_MAX = 360

const COLUMNS = 5

class CandleRing {
  readonly #intervalMs: number
  readonly #rows = new Float64Array(CANDLES_MAX * COLUMNS)
  #count = 0
  #first = 0

  constructor(intervalMs: number) {
    this.#intervalMs = intervalMs
  }

  /** @param at Exchange clock; a time slightly before the open candle counts as in it. */
  add(at: number, price: number): void {
    const begin = at - (at % this.#intervalMs)
    // One timestamp far in the future must not block later candles.
    while (this.#count > this.#first && this.#beginOf(this.#count - 1) > begin + this.#intervalMs)
      this.#count -= 1
    const row = this.#rowOf(this.#count - 1)
    if (this.#count === this.#first || begin > this.#beginOf(this.#count - 1)) {
      this.#rows.set([begin, price, price, price, price], this.#rowOf(this.#count))
      this.#count += 1
      this.#first = Math.max(this.#first, this.#count - CANDLES_MAX)
      return
    }
    this.#rows[row + 2] = Math.max(this.#rows[row + 2] ?? price, price)
    this.#rows[row + 3] = Math.min(this.#rows[row + 3] ?? price, price)
    this.#rows[row + 4] = price
  }

  list(): readonly CandleDetail[] {
    return Array.from({ length: this.#count - this.#first }, (_, index) => {
      const row = this.#rowOf(this.#first + index)
      const [at = 0, open = 0, high = 0, low = 0, close = 0] = this.#rows.subarray(
        row,
        row + COLUMNS,
      )
      return { at, open, high, low, close }
    })
  }

  #beginOf(index: number): number {
    return this.#rows[this.#rowOf(index)] ?? 0
  }

  #rowOf(index: number): number {
    return (Math.max(0, index) % CANDLES_MAX) * COLUMNS
  }
}

function createRings(): readonly CandleRing[] {
  return CANDLE_INTERVALS_MS.map((ms) => new CandleRing(ms))
}

export class PriceHistory {
  readonly #rings = new Map<string, readonly CandleRing[]>()
  readonly #symbols: () => Iterable<string>

  /** @param symbols whose prices are kept now */
  constructor(symbols: () => Iterable<string>) {
    this.#symbols = symbols
  }

  #follow(): void {
    const symbols = new Set(this.#symbols())
    for (const symbol of symbols)
      if (!this.#rings.has(symbol)) this.#rings.set(symbol, createRings())
    for (const symbol of this.#rings.size > symbols.size ? Array.from(this.#rings.keys()) : [])
      if (!symbols.has(symbol)) this.#rings.delete(symbol)
  }

  take(tickers: TickerTable): void {
    this.#follow()
    for (const [symbol, rings] of this.#rings) {
      const price = tickers.read(symbol, 'lastPr')
      const at = tickers.read(symbol, 'ts')
      if (!(price > 0) || !(at > 0)) continue
      for (const ring of rings) ring.add(at, price)
    }
  }

  candles(symbol: string, intervalMs: number): readonly CandleDetail[] | undefined {
    this.#follow()
    const index = CANDLE_INTERVALS_MS.findIndex((kept) => kept === intervalMs)
    return this.#rings.get(symbol)?.[index]?.list()
  }
}

const SPANS_MAX = 600
const STEP_MS = 1000

/**
 * Each span keeps its lowest and highest value, because every n-th point would show a smaller
 * drawdown.
 */
export class ProfitCurve {
  #spans: Span[] = []
  #spanMs = STEP_MS
  #peak: number | null = null
  #takenAt = Number.NEGATIVE_INFINITY
  /**
   * Unix ms less monotonic ms. Never falls, so that a clock that is set back does not bend the
   * curve.
   */
  #offset = Number.NEGATIVE_INFINITY

  isDue(now: number): boolean {
    return now - this.#takenAt >= STEP_MS
  }

  /** @param now monotonic ms */
  take(
    now: number,
    at: number,
    { profit, equity, peak }: Pick<AccountStatusView, 'profit' | 'equity' | 'peak'>,
  ): void {
    this.#takenAt = now
    this.#offset = Math.max(this.#offset, at - now)
    if (peak !== null) this.#peak ??= Number(peak)
    const point: Point = {
      at: now + this.#offset,
      net: profit.total.netWithUnrealised === null ? null : Number(profit.total.netWithUnrealised),
      equity: equity === null ? null : Number(equity),
      strategies: Object.fromEntries(
        Object.entries(profit.strategies).map(([id, { net, netWithUnrealised }]) => [
          id,
          Number(netWithUnrealised ?? net),
        ]),
      ),
    }
    const added: Span = { since: now, low: point, high: point }
    const last = this.#spans.at(-1)
    if (last !== undefined && now - last.since < this.#spanMs)
      this.#spans[this.#spans.length - 1] = merge(last, added)
    else this.#spans.push(added)
    if (this.#spans.length <= SPANS_MAX) return
    this.#spans = this.#spans.flatMap((span, index) => {
      if (index % 2 === 1) return []
      const next = this.#spans[index + 1]
      return next ? merge(span, next) : span
    })
    this.#spanMs *= 2
  }

  view(): CurvesView {
    const points = this.#spans.flatMap(({ low, high }) =>
      low === high ? [low] : [low, high].toSorted((one, other) => one.at - other.at),
    )
    const ids = Object.keys(points.at(-1)?.strategies ?? {})
    return {
      peak: this.#peak,
      at: points.map(({ at }) => at),
      netWithUnrealised: points.map(({ net }) => net),
      equity: points.map(({ equity }) => equity),
      strategies: Object.fromEntries(
        ids.map((id) => [id, points.map(({ strategies }) => strategies[id] ?? 0)]),
      ),
    }
  }
}

interface Span {
  readonly since: number
  readonly low: Point
  readonly high: Point
}

function merge(one: Span, other: Span): Span {
  return {
    since: one.since,
    low: chooseOf(one.low, other.low, (left, right) => right < left),
    high: chooseOf(one.high, other.high, (left, right) => right > left),
  }
}

function chooseOf(
  one: Point,
  other: Point,
  goesFurther: (one: number, other: number) => boolean,
): Point {
  if (other.net === null) return one
  return one.net === null || goesFurther(one.net, other.net) ? other : one
}

interface Point {
  readonly at: number
  readonly net: number | null
  readonly equity: number | null
  readonly strategies: Readonly<Record<string, number>>
}

/** Counted by strategy and code. */
export class DenialCounts {
  readonly #counts = new Map<string, Map<string, number>>()

  hear({ event, fields }: LoggedFact): void {
    if (event !== 'intent.denied') return
    const { strategy, code, orders = 1, sinceLastLogged = 0 } = fields
    const codes = this.#counts.get(String(strategy)) ?? new Map<string, number>()
    this.#counts.set(String(strategy), codes)
    const count = Number(orders) + Number(sinceLastLogged)
    codes.set(String(code), (codes.get(String(code)) ?? 0) + count)
  }

  view(): DenialsView {
    return Object.fromEntries(
      [...this.#counts].map(([id, codes]) => [id, Object.fromEntries(codes)]),
    )
  }
}

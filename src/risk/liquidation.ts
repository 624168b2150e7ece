import type { MaintenanceRules } from '../domain/liquidation.ts'
import type { HoldSide } from '../domain/position.ts'

/** One side of a position, for its liquidation. */
export interface Leg {
  readonly holdSide: HoldSide
  /** Base coin. */
  readonly size: number
  /** Average price at which it was opened, quote coin. */
  readonly entryPrice: number
}

/**
 * The positions of one instrument that are liquidated together: both crossed ones, or an isolated
 * one alone.
 */
export interface Legs {
  readonly legs: readonly Leg[]
  /**
   * Collateral in the margin coin, independent of the instrument's price: for crossed positions the
   * balance and the profit of all other positions of the coin, less their needs; for an isolated
   * one its margin.
   */
  readonly behind: number
  readonly rules: MaintenanceRules
  /** Whether profit is counted in the base coin. */
  readonly isInverse: boolean
}

/** Quote coin; NaN for a side without liquidation. */
export interface LiquidationPrices {
  readonly below: number
  readonly above: number
}

/**
 * The mark prices nearest to `mark`, below and above it, at which what is behind the positions and their profit is no
 * more than they need: maintenance margin and the fee of closing. If nothing else moves, that is the liquidation.
 *
 *     behind + profit(p) = need(p)        each of them a straight line of p within one maintenance tier
 *
 * For inverse contracts both sides are multiplied by p, since a profit in the base coin is size - cost / p.
 */
export function findLiquidationPrices(of: Legs, mark: number): LiquidationPrices {
  const spans = spansOf(of)
  return { below: findBelow(of, spans, mark), above: findAbove(of, spans, mark) }
}

/** Maintenance margin and closing fee of the positions at a price, in the margin coin. */
export function maintenanceAt(
  { legs, rules, isInverse }: Omit<Legs, 'behind'>,
  price: number,
): number {
  let need = 0
  for (const { size } of legs) need += size * rateOf(rules, size * price)
  return isInverse ? need : need * price
}

/** A share of the mark price; Infinity if no price liquidates. */
export function distanceTo(price: number, mark: number): number {
  return Number.isNaN(price) ? Number.POSITIVE_INFINITY : Math.abs(mark - price) / mark
}

function rateOf(rules: MaintenanceRules, value: number): number {
  return tierRateOf(rules, value) + rules.takerFeeRate
}

/** The maintenance rate of a position with this value, as a share of it. */
export function tierRateOf({ tiers }: MaintenanceRules, value: number): number {
  for (const { notionalMax, rate } of tiers) if (value <= notionalMax) return rate
  return tiers.at(-1)?.rate ?? Number.NaN
}

/** A range of prices within which each position stays in its maintenance tier. */
interface Span {
  readonly from: number
  readonly to: number
}

interface KeptSpans {
  /** The sizes of the positions that they are of. */
  readonly sizes: readonly number[]
  readonly spans: readonly Span[]
}

/** The last spans of each instrument: a position is measured far more often than its size changes. */
const kept = new WeakMap<MaintenanceRules, KeptSpans>()

function spansOf(of: Legs): readonly Span[] {
  const known = kept.get(of.rules)
  if (known && isOfSizes(of, known.sizes)) return known.spans
  const spans = listSpans(of)
  kept.set(of.rules, { sizes: of.legs.map(({ size }) => size), spans })
  return spans
}

function isOfSizes({ legs }: Legs, sizes: readonly number[]): boolean {
  if (legs.length !== sizes.length) return false
  for (let place = 0; place < sizes.length; place++)
    if (legs[place]?.size !== sizes[place]) return false
  return true
}

function listSpans({ legs, rules }: Legs): readonly Span[] {
  const ends = rules.tiers.flatMap(({ notionalMax }) => legs.map(({ size }) => notionalMax / size))
  const bounds = [...new Set([0, ...ends, Number.POSITIVE_INFINITY])].toSorted(
    (one, other) => one - other,
  )
  return bounds.slice(1).map((to, index) => ({ from: bounds[index] ?? 0, to }))
}

/** Collateral plus profit less need, as a line over one span: above zero the positions stand. */
interface MarginLine {
  readonly slope: number
  readonly rest: number
}

function lineOf({ legs, behind, rules, isInverse }: Legs, { from, to }: Span): MarginLine {
  let [slope, rest] = isInverse ? [behind, 0] : [0, behind]
  const within = Number.isFinite(to) ? (from + to) / 2 : from * 2 + 1
  for (const { holdSide, size, entryPrice } of legs) {
    const sign = holdSide === 'long' ? 1 : -1
    slope += sign * size - size * rateOf(rules, size * within)
    rest -= sign * size * entryPrice
  }
  return { slope, rest }
}

function findBelow(of: Legs, spans: readonly Span[], mark: number): number {
  for (let place = spans.length - 1; place >= 0; place--) {
    const span = spans[place] as Span
    const price = zeroOf(lineOf(of, span))
    if (price > span.from && price <= Math.min(span.to, mark)) return price
  }
  return Number.NaN
}

/**
 * Entering a higher tier on the way up raises the need at once, so the border of a tier may be the
 * price.
 */
function findAbove(of: Legs, spans: readonly Span[], mark: number): number {
  for (const span of spans) {
    if (span.to <= mark) continue
    const line = lineOf(of, span)
    if (span.from > mark && line.slope * span.from + line.rest <= 0) return span.from
    const price = zeroOf(line)
    if (price > Math.max(span.from, mark) && price <= span.to) return price
  }
  return Number.NaN
}

/** NaN if the line does not cross zero at a price. */
function zeroOf({ slope, rest }: MarginLine): number {
  return slope === 0 || rest === 0 || slope > 0 === rest > 0 ? Number.NaN : -rest / slope
}

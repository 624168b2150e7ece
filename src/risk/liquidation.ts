import type { MaintenanceRules } from '../domain/liquidation.ts'
import type { HoldSide } from '../domain/position.ts'

export interface Leg {
  readonly holdSide: HoldSide
  /** Base coin. */
  readonly size: number
  /** Average, quote coin. */
  readonly entryPrice: number
}

/**
 * Positions that are liquidated together: both crossed ones of an instrument, or an isolated one.
 */
export interface Legs {
  readonly legs: readonly Leg[]
  /**
   * Margin coin. Behind crossed positions stand the balance and the profit of all other positions
   * of the coin, less what those need; behind an isolated one its margin.
   */
  readonly behind: number
  readonly rules: MaintenanceRules
  readonly isInverse: boolean
}

/** Quote coin; NaN on a side where no price liquidates. */
export interface LiquidationPrices {
  readonly below: number
  readonly above: number
}

/**
 * The prices nearest to `mark` that liquidate if nothing else moves:
 *
 *     behind + profit(p) = need(p)
 *
 * Within one maintenance tier each side is a straight line of p. The need is maintenance margin and
 * closing fee. For inverse contracts both sides are multiplied by p, since a profit in the base coin
 * is size - cost / p.
 */
export function findLiquidationPrices(of: Legs, mark: number): LiquidationPrices {
  const spans = spansOf(of)
  return { below: findBelow(of, spans, mark), above: findAbove(of, spans, mark) }
}

/** @returns maintenance margin and closing fee, margin coin */
export function maintenanceAt(
  { legs, rules, isInverse }: Omit<Legs, 'behind'>,
  price: number,
): number {
  let need = 0
  for (const { size } of legs) need += size * rateOf(rules, size * price)
  return isInverse ? need : need * price
}

/** @returns a share of the mark price; Infinity if no price liquidates */
export function distanceTo(price: number, mark: number): number {
  return Number.isNaN(price) ? Number.POSITIVE_INFINITY : Math.abs(mark - price) / mark
}

function rateOf(rules: MaintenanceRules, value: number): number {
  return tierRateOf(rules, value) + rules.takerFeeRate
}

export function tierRateOf({ tiers }: MaintenanceRules, value: number): number {
  for (const { notionalMax, rate } of tiers) if (value <= notionalMax) return rate
  return tiers.at(-1)?.rate ?? Number.NaN
}

/** Between these prices no position changes its maintenance tier. */
interface PriceSpan {
  readonly from: number
  readonly to: number
}

interface KeptSpans {
  readonly sizes: readonly number[]
  readonly spans: readonly PriceSpan[]
}

/** Positions are measured far more often than their sizes change, so the spans are kept. */
const kept = new WeakMap<MaintenanceRules, KeptSpans>()

function spansOf(of: Legs): readonly PriceSpan[] {
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

function listSpans({ legs, rules }: Legs): readonly PriceSpan[] {
  const ends = rules.tiers.flatMap(({ notionalMax }) => legs.map(({ size }) => notionalMax / size))
  const bounds = [...new Set([0, ...ends, Number.POSITIVE_INFINITY])].toSorted(
    (one, other) => one - other,
  )
  return bounds.slice(1).map((to, index) => ({ from: bounds[index] ?? 0, to }))
}

/**
 * Collateral plus profit less need is `slope * price + rest`. Below zero there is a liquidation.
 */
interface MarginLine {
  readonly slope: number
  readonly rest: number
}

function lineOf({ legs, behind, rules, isInverse }: Legs, { from, to }: PriceSpan): MarginLine {
  let [slope, rest] = isInverse ? [behind, 0] : [0, behind]
  const within = Number.isFinite(to) ? (from + to) / 2 : from * 2 + 1
  for (const { holdSide, size, entryPrice } of legs) {
    const sign = holdSide === 'long' ? 1 : -1
    slope += sign * size - size * rateOf(rules, size * within)
    rest -= sign * size * entryPrice
  }
  return { slope, rest }
}

function findBelow(of: Legs, spans: readonly PriceSpan[], mark: number): number {
  for (let place = spans.length - 1; place >= 0; place--) {
    const span = spans[place] as PriceSpan
    if (span.from >= mark) continue
    const price = zeroOf(lineOf(of, span))
    if (price > span.from && price <= Math.min(span.to, mark)) return price
  }
  return Number.NaN
}

/** A higher tier raises the need at once, so the border of a tier may be the price. */
function findAbove(of: Legs, spans: readonly PriceSpan[], mark: number): number {
  for (const span of spans) {
    if (span.to <= mark) continue
    const line = lineOf(of, span)
    if (span.from > mark && line.slope * span.from + line.rest <= 0) return span.from
    const price = zeroOf(line)
    if (price > Math.max(span.from, mark) && price <= span.to) return price
  }
  return Number.NaN
}

function zeroOf({ slope, rest }: MarginLine): number {
  return slope === 0 || rest === 0 || slope > 0 === rest > 0 ? Number.NaN : -rest / slope
}

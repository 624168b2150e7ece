import type { MaintenanceRules } from '../domain/liquidation.ts'
import type { OrderIntent } from '../domain/intent.ts'
import { type Instrument, isInverse, type PositionMode } from '../domain/instrument.ts'
import { isClosing, tradesAs } from '../domain/order-action.ts'
import {
  applyToHolding,
  HOLD_SIDES,
  type Holding,
  type HoldSide,
  lotsOn,
  netLots,
} from '../domain/position.ts'
import { floatOnGrid } from '../lib/grid.ts'

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

/** The nearer price; `price` itself where the need already exceeds what is behind. */
export function pickPrice(of: Legs, price: number): number {
  const { below, above } = findLiquidationPrices(of, price)
  if (standingAt(of, price) <= 0) return price
  if (Number.isNaN(below) || Number.isNaN(above)) return Number.isNaN(below) ? above : below
  return price - below <= above - price ? below : above
}

/** Margin coin: what is left of what stands behind the legs at this price. */
export function standingAt(
  { legs, behind, rules, isInverse: inBase }: Legs,
  price: number,
): number {
  let profit = 0
  for (const { holdSide, size, entryPrice } of legs)
    profit += (holdSide === 'long' ? 1 : -1) * size * (price - entryPrice)
  return (
    behind +
    (inBase ? profit / price : profit) -
    maintenanceAt({ legs, rules, isInverse: inBase }, price)
  )
}

/** @returns maintenance margin and closing fee, margin coin */
export function maintenanceAt(
  { legs, rules, isInverse: inBase }: Omit<Legs, 'behind'>,
  price: number,
): number {
  let need = 0
  for (const { size } of legs) need += size * rateOf(rules, size * price)
  return inBase ? need : need * price
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

function lineOf(
  { legs, behind, rules, isInverse: inBase }: Legs,
  { from, to }: PriceSpan,
): MarginLine {
  let [slope, rest] = inBase ? [behind, 0] : [0, behind]
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

/** The distance after an order follows from these. */
export interface DistanceBasis {
  readonly spec: Instrument
  readonly mode: PositionMode
  readonly held: Holding
  readonly legs: readonly Leg[]
  readonly behind: number
  /** The margin of an order is its value divided by this; undefined where all margin is crossed. */
  readonly leverage: number | undefined
  readonly rules: MaintenanceRules
  readonly bid: number
  readonly ask: number
}

/**
 * The distance, a share of the price at which the order is filled. Infinity for an order that
 * brings the account no nearer: its net position gets smaller, or an isolated position is closed.
 * With isolated margin only the order's own margin counts.
 */
export function distanceAfter(basis: DistanceBasis, order: OrderIntent): number {
  const { spec, mode, held, behind, leverage, rules } = basis
  const { action, lots } = order
  const side = tradesAs(action)
  const tradeSide = isClosing(action) ? 'close' : 'open'
  const price = fillPriceOf(basis, order)
  const inBase = isInverse(spec)
  // In hedge mode the side of a close is that of its position.
  const isOfLong = mode === 'hedge_mode' && tradeSide === 'close' ? side === 'sell' : side === 'buy'
  const after = applyToHolding(mode, held, { side: isOfLong ? 'buy' : 'sell', tradeSide, lots })
  if (leverage !== undefined) {
    const added = Math.max(after.longLots - held.longLots, after.shortLots - held.shortLots)
    if (added <= 0) return Number.POSITIVE_INFINITY
    const size = floatOnGrid(spec.lot, added)
    const leg = { holdSide: isOfLong ? 'long' : 'short', size, entryPrice: price } as const
    const margin = (inBase ? size : size * price) / leverage
    const own = { legs: [leg], behind: margin, rules, isInverse: inBase }
    return distanceTo(pickPrice(own, price), price)
  }
  if (Math.abs(netLots(after)) <= Math.abs(netLots(held))) return Number.POSITIVE_INFINITY
  const { legs, realised } = fillLegs(basis, after, price)
  const of = {
    legs,
    behind: behind + (inBase ? realised / price : realised),
    rules,
    isInverse: inBase,
  }
  return distanceTo(pickPrice(of, price), price)
}

function fillPriceOf({ spec, bid, ask }: DistanceBasis, { action, ticks }: OrderIntent): number {
  const limit = ticks === undefined ? undefined : floatOnGrid(spec.tick, ticks)
  return tradesAs(action) === 'buy' ? Math.min(limit ?? ask, ask) : Math.max(limit ?? bid, bid)
}

interface FilledLegs {
  readonly legs: readonly Leg[]
  /** Size × price difference. */
  readonly realised: number
}

function fillLegs({ spec, legs }: DistanceBasis, after: Holding, price: number): FilledLegs {
  let realised = 0
  const filled = HOLD_SIDES.flatMap((holdSide): readonly Leg[] => {
    const size = floatOnGrid(spec.lot, lotsOn(after, holdSide))
    const leg = legs.find((one) => one.holdSide === holdSide)
    if (leg !== undefined && size < leg.size)
      realised += (holdSide === 'long' ? 1 : -1) * (leg.size - size) * (price - leg.entryPrice)
    if (size === 0) return []
    if (leg === undefined) return [{ holdSide, size, entryPrice: price }]
    const added = Math.max(0, size - leg.size)
    return [
      { holdSide, size, entryPrice: (leg.entryPrice * (size - added) + price * added) / size },
    ]
  })
  return { legs: filled, realised }
}

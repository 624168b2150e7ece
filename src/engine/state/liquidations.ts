import {
  type DistanceTrust,
  LIQUIDATION_STEPS,
  type LiquidationDistance,
  type LiquidationStep,
  type MaintenanceRules,
} from '../../domain/liquidation.ts'
import type { OrderIntent } from '../../domain/intent.ts'
import { type Instrument, isInverse, type PositionMode } from '../../domain/instrument.ts'
import { tradesAs } from '../../domain/order-action.ts'
import { applyToHolding, type Holding, type HoldSide, isFlat } from '../../domain/position.ts'
import { floatOnGrid } from '../../lib/grid.ts'
import { own } from '../../lib/own.ts'
import {
  distanceTo,
  findLiquidationPrices,
  type Leg,
  type Legs,
  maintenanceAt,
} from '../../risk/liquidation.ts'
import { accountHoldingOf, pairKey } from '../book/book.ts'
import { type Core, instrumentOf, specOf } from './core.ts'
import { comparableStatement, equityOf, settledOf } from './losses.ts'
import { marketOf } from './market-state.ts'
import { ownPriceOf } from './own-figure.ts'

/** Two distances further apart than this share of the price are no rounding, and no moment between two readings. */
const DIFFERENCE_MAX = 0.02

const SIDES = ['long', 'short'] as const

/** Measures how far the positions of an instrument are from a liquidation, when its reading and the book agree on them. */
export function measureDistances(core: Core, symbol: string): readonly LiquidationDistance[] {
  const statement = comparableStatement(core, symbol)
  if (!statement) return []
  const held = accountHoldingOf(core.book, symbol)
  const { price } = ownPriceOf(core, symbol)
  const measured = SIDES.filter((side) => lotsOf(held, side) > 0).map((holdSide) => {
    const ourPrice = findOurPrice(core, symbol, holdSide, price)
    const stated = statement.liquidation[holdSide]
    const statedPrice = stated > 0 ? stated : Number.NaN
    const distances = {
      ours: ourPrice === undefined ? Number.NaN : distanceTo(ourPrice, price),
      stated: Number.isNaN(statedPrice) ? Number.NaN : distanceTo(statedPrice, statement.markPrice),
    }
    return {
      symbol,
      holdSide,
      markPrice: statement.markPrice,
      ourPrice: ourPrice ?? Number.NaN,
      statedPrice,
      ...distances,
      nearest: nearestOf(distances),
      trust: trustOf(distances),
    }
  })
  if (measured.length === 0) own(core.liquidation.distances).delete(symbol)
  else own(core.liquidation.distances).set(symbol, measured)
  return measured
}

function nearestOf({ ours, stated }: Pick<LiquidationDistance, 'ours' | 'stated'>): number {
  if (Number.isNaN(ours)) return stated
  return Number.isNaN(stated) ? ours : Math.min(ours, stated)
}

function trustOf({ ours, stated }: Pick<LiquidationDistance, 'ours' | 'stated'>): DistanceTrust {
  if (Number.isNaN(ours)) return Number.isNaN(stated) ? 'none' : 'stated'
  // An exchange that states no price says that there is none, or nothing at all.
  if (Number.isNaN(stated)) return 'ours'
  const isClose = ours === stated || Math.abs(ours - stated) <= DIFFERENCE_MAX
  return isClose ? 'agreed' : 'disputed'
}

function lotsOf({ longLots, shortLots }: Holding, side: HoldSide): number {
  return side === 'long' ? longLots : shortLots
}

/** Undefined while a part of it is not known; NaN where no price liquidates. */
function findOurPrice(core: Core, symbol: string, side: HoldSide, price: number): number | undefined {
  const isIsolated = core.settings.marginMode === 'isolated'
  const legs = legsOf(core, symbol, accountHoldingOf(core.book, symbol))
  const rules = rulesOf(core, symbol)
  if (legs === undefined || rules === undefined || !(price > 0)) return undefined
  const closed = isIsolated ? legs.filter(({ holdSide }) => holdSide === side) : legs
  const behind = isIsolated
    ? (core.losses.statements.get(symbol)?.margin[side] ?? Number.NaN)
    : marginBehind(core, symbol)
  if (Number.isNaN(behind)) return undefined
  return pickPrice({ legs: closed, behind, rules, isInverse: isInverse(specOf(core, symbol)) }, price)
}

/** The nearer one of the two prices; the price itself where what is behind is less than the need already. */
function pickPrice(of: Legs, price: number): number {
  const { below, above } = findLiquidationPrices(of, price)
  if (standingAt(of, price) <= 0) return price
  if (Number.isNaN(below) || Number.isNaN(above)) return Number.isNaN(below) ? above : below
  return price - below <= above - price ? below : above
}

function standingAt({ legs, behind, rules, isInverse: inBase }: Legs, price: number): number {
  let profit = 0
  for (const { holdSide, size, entryPrice } of legs)
    profit += (holdSide === 'long' ? 1 : -1) * size * (price - entryPrice)
  return (
    behind + (inBase ? profit / price : profit) - maintenanceAt({ legs, rules, isInverse: inBase }, price)
  )
}

function rulesOf({ settings }: Core, symbol: string): MaintenanceRules | undefined {
  return settings.liquidation?.rules.get(symbol)
}

/** Undefined where our fills do not explain all lots. */
function legsOf(core: Core, symbol: string, held: Holding): readonly Leg[] | undefined {
  const entry = core.book.entries.get(symbol)
  const { tick, lot } = specOf(core, symbol)
  const legs: Leg[] = []
  for (const holdSide of SIDES) {
    const lots = lotsOf(held, holdSide)
    if (lots === 0) continue
    const isLong = holdSide === 'long'
    const explained = (isLong ? entry?.longLots : entry?.shortLots) ?? 0
    const ticks = isLong ? entry?.longTicks : entry?.shortTicks
    if (explained < lots || ticks === undefined) return undefined
    legs.push({ holdSide, size: floatOnGrid(lot, lots), entryPrice: floatOnGrid(tick, ticks) })
  }
  return legs
}

/**
 * What backs the crossed positions of an instrument whatever its price does, in the margin coin: our own equity without
 * their own profit, less what all others need at their own prices. NaN while a part of it is not known.
 */
function marginBehind(core: Core, symbol: string): number {
  const equity = equityOf(core)
  if (equity === undefined) return Number.NaN
  const worth = core.losses.worths.get(symbol)
  const unrealised = worth ? worth.ours - settledOf(core, symbol) : 0
  let behind = equity - unrealised
  for (const other of core.settings.instruments.keys()) {
    const held = accountHoldingOf(core.book, other)
    if (other === symbol || isFlat(held)) continue
    const legs = legsOf(core, other, held)
    const rules = rulesOf(core, other)
    if (legs === undefined || rules === undefined) return Number.NaN
    behind -= maintenanceAt(
      { legs, rules, isInverse: isInverse(specOf(core, other)) },
      ownPriceOf(core, other).price,
    )
  }
  return behind
}

/**
 * How many lots of a crossed position have to be closed at the price now so that its liquidation is farther than a share of
 * it; all of them where no fewer are enough. Zero while a part of that is not known, and of an isolated position, which
 * gives up as much margin as it gets smaller.
 */
export function lotsToClose(
  core: Core,
  symbol: string,
  { holdSide, share }: { readonly holdSide: HoldSide; readonly share: number },
): number {
  const held = accountHoldingOf(core.book, symbol)
  const legs = legsOf(core, symbol, held)
  const rules = rulesOf(core, symbol)
  const { price } = ownPriceOf(core, symbol)
  const behind = marginBehind(core, symbol)
  const closed = legs?.find((leg) => leg.holdSide === holdSide)
  if (core.settings.marginMode === 'isolated' || Number.isNaN(behind) || !rules || !legs || !closed) return 0
  const spec = specOf(core, symbol)
  const inBase = isInverse(spec)
  const isFar = (lots: number): boolean => {
    const size = floatOnGrid(spec.lot, lots)
    const gained =
      (holdSide === 'long' ? 1 : -1) * size * (price - closed.entryPrice) - size * price * rules.takerFeeRate
    const left = legs.map((leg) => (leg === closed ? { ...leg, size: leg.size - size } : leg))
    const of = { legs: left, behind: behind + (inBase ? gained / price : gained), rules, isInverse: inBase }
    return distanceTo(pickPrice(of, price), price) > share
  }
  let [tooFew, enough] = [0, lotsOf(held, holdSide)]
  while (enough - tooFew > 1) {
    const lots = Math.floor((tooFew + enough) / 2)
    if (isFar(lots)) enough = lots
    else tooFew = lots
  }
  return enough
}

/** What the distance after an order depends on beside the order. */
export interface Opening {
  readonly spec: Instrument
  readonly mode: PositionMode
  readonly held: Holding
  readonly legs: readonly Leg[]
  readonly behind: number
  /** What an order brings as margin of its own is its value divided by this; undefined where all is crossed. */
  readonly leverage: number | undefined
  readonly rules: MaintenanceRules
  readonly bid: number
  readonly ask: number
}

/** Undefined while a part of it is not known. */
export function openingOn(core: Core, symbol: string): Opening | undefined {
  const rules = rulesOf(core, symbol)
  const held = accountHoldingOf(core.book, symbol)
  const legs = legsOf(core, symbol, held)
  const { marginMode, positionMode: mode } = core.settings
  if (rules === undefined || legs === undefined) return undefined
  const spec = specOf(core, symbol)
  const leverage = marginMode === 'isolated' ? leverageOf(core, spec) : undefined
  const behind = marginMode === 'isolated' ? 0 : marginBehind(core, symbol)
  if (Number.isNaN(behind) || Number.isNaN(leverage)) return undefined
  const { bid, ask } = marketOf(core, symbol)
  return { spec, mode, held, legs, behind, leverage, rules, bid, ask }
}

/** As configured, or as rows of the position have said it; NaN where it is not known. */
function leverageOf(core: Core, { symbol, leverage }: Instrument): number {
  return leverage ?? Number(instrumentOf(core, symbol).setup.leverage)
}

/**
 * How far from a liquidation the position would be once an order that opens is filled at its price, or at the market's,
 * as a share of that price. Of isolated margin what it brings by itself is looked at.
 */
export function distanceAfter(opening: Opening, { action, ticks, lots }: OrderIntent): number {
  const { spec, mode, held, legs, behind, leverage, rules, bid, ask } = opening
  const isBuy = tradesAs(action) === 'buy'
  const limit = ticks === undefined ? undefined : floatOnGrid(spec.tick, ticks)
  const price = isBuy ? Math.min(limit ?? ask, ask) : Math.max(limit ?? bid, bid)
  if (leverage !== undefined) {
    const size = floatOnGrid(spec.lot, lots)
    const leg = { holdSide: isBuy ? 'long' : 'short', size, entryPrice: price } as const
    const margin = (isInverse(spec) ? size : size * price) / leverage
    return distanceTo(
      pickPrice({ legs: [leg], behind: margin, rules, isInverse: isInverse(spec) }, price),
      price,
    )
  }
  const after = applyToHolding(mode, held, { side: isBuy ? 'buy' : 'sell', tradeSide: 'open', lots })
  const grown = SIDES.flatMap((holdSide): readonly Leg[] => {
    const size = floatOnGrid(spec.lot, lotsOf(after, holdSide))
    if (size === 0) return []
    const leg = legs.find((one) => one.holdSide === holdSide)
    if (leg === undefined) return [{ holdSide, size, entryPrice: price }]
    const added = Math.max(0, size - leg.size)
    return [{ holdSide, size, entryPrice: (leg.entryPrice * (size - added) + price * added) / size }]
  })
  const liquidation = pickPrice({ legs: grown, behind, rules, isInverse: isInverse(spec) }, price)
  return distanceTo(liquidation, price)
}

/** Whether a side has just come nearer than the first step: it is said once, until it is clearly beyond it again. */
export function noteNear(
  { liquidation }: Core,
  { symbol, holdSide, nearest }: LiquidationDistance,
  warn: number,
): boolean {
  const key = pairKey(symbol, holdSide)
  const isKnown = liquidation.warned.has(key)
  if (isKnown && nearest > warn * REARMED) own(liquidation.warned).delete(key)
  if (isKnown || !(nearest <= warn)) return false
  own(liquidation.warned).add(key)
  return true
}

/**
 * A warning is given again after the distance was so many times that of the step. A position that was reduced has as much
 * again, so that the next small move does not reduce it anew.
 */
export const REARMED = 1.1

/** Whether another reading than this one has said before that the instrument is nearer than a step. */
export function confirmNear(
  core: Core,
  { symbol, step }: { readonly symbol: string; readonly step: LiquidationStep },
  isNear: boolean,
): boolean {
  const key = pairKey(symbol, step)
  const before = core.liquidation.awaited.get(key)
  const at = core.losses.statements.get(symbol)?.requestedAt ?? 0
  if (!isNear) {
    if (before !== undefined) own(core.liquidation.awaited).delete(key)
    return false
  }
  if (before === undefined) own(core.liquidation.awaited).set(key, at)
  return before !== undefined && before !== at
}

/** Nothing is held on it any more. */
export function forgetDistances({ liquidation }: Core, symbol: string): void {
  if (!liquidation.distances.has(symbol)) return
  own(liquidation.distances).delete(symbol)
  for (const step of LIQUIDATION_STEPS) own(liquidation.awaited).delete(pairKey(symbol, step))
  for (const side of SIDES) own(liquidation.warned).delete(pairKey(symbol, side))
}

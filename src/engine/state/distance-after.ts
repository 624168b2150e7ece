import { type Instrument, isInverse, type PositionMode } from '../../domain/instrument.ts'
import type { OrderIntent } from '../../domain/intent.ts'
import type { MaintenanceRules } from '../../domain/liquidation.ts'
import { isClosing, tradesAs } from '../../domain/order-action.ts'
import { applyToHolding, type Holding, netLots } from '../../domain/position.ts'
import { floatOnGrid } from '../../lib/grid.ts'
import { distanceTo, type Leg } from '../../risk/liquidation.ts'
import { accountHoldingOf } from '../book/book.ts'
import { type Core, instrumentOf, specOf } from './core.ts'
import { legsOf, lotsOf, marginBehind, pickPrice, rulesOf, SIDES } from './liquidations.ts'
import { marketOf } from './market-state.ts'

/** The distance depends on this and on the order. */
export interface Opening {
  readonly spec: Instrument
  readonly mode: PositionMode
  readonly held: Holding
  readonly legs: readonly Leg[]
  readonly behind: number
  /** An order brings its value divided by this as margin; undefined where all is crossed. */
  readonly leverage: number | undefined
  readonly rules: MaintenanceRules
  readonly bid: number
  readonly ask: number
}

/** Undefined while a part is not known. */
export function openingOn(core: Core, symbol: string): Opening | undefined {
  const rules = rulesOf(core, symbol)
  const held = accountHoldingOf(core.book, symbol)
  const legs = legsOf(core, symbol, held)
  const { marginMode, positionMode: mode } = core.settings
  if (rules === undefined || legs === undefined) return undefined
  const spec = specOf(core, symbol)
  const leverage = marginMode === 'isolated' ? leverageOf(core, spec) : undefined
  const behind = marginMode === 'isolated' ? 0 : marginBehind(core, symbol).behind
  if (Number.isNaN(behind) || Number.isNaN(leverage)) return undefined
  const { bid, ask } = marketOf(core, symbol)
  return { spec, mode, held, legs, behind, leverage, rules, bid, ask }
}

/** Configured, or said by rows; NaN where unknown. */
function leverageOf(core: Core, { symbol, leverage }: Instrument): number {
  return leverage ?? Number(instrumentOf(core, symbol).setup.leverage)
}

/**
 * A share of the price at which the order is filled, its own or the market's. Infinity for one that
 * brings the account no nearer: its net position gets smaller, or an isolated one is closed. For
 * isolated margin only what the order brings itself.
 */
export function distanceAfter(opening: Opening, order: OrderIntent): number {
  const { spec, mode, held, behind, leverage, rules } = opening
  const { action, lots } = order
  const side = tradesAs(action)
  const tradeSide = isClosing(action) ? 'close' : 'open'
  const price = fillPriceOf(opening, order)
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
  const { legs, realised } = fillLegs(opening, after, price)
  const of = {
    legs,
    behind: behind + (inBase ? realised / price : realised),
    rules,
    isInverse: inBase,
  }
  return distanceTo(pickPrice(of, price), price)
}

function fillPriceOf({ spec, bid, ask }: Opening, { action, ticks }: OrderIntent): number {
  const limit = ticks === undefined ? undefined : floatOnGrid(spec.tick, ticks)
  return tradesAs(action) === 'buy' ? Math.min(limit ?? ask, ask) : Math.max(limit ?? bid, bid)
}

interface FilledLegs {
  readonly legs: readonly Leg[]
  /** The profit of what was closed, as size × price difference. */
  readonly realised: number
}

function fillLegs({ spec, legs }: Opening, after: Holding, price: number): FilledLegs {
  let realised = 0
  const filled = SIDES.flatMap((holdSide): readonly Leg[] => {
    const size = floatOnGrid(spec.lot, lotsOf(after, holdSide))
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

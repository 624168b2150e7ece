import type { ClientOid, StrategyId } from './ids.ts'
import type { MarginMode, PositionMode } from './instrument.ts'

export type HoldSide = 'long' | 'short'

export const HOLD_SIDES = ['long', 'short'] as const satisfies readonly HoldSide[]

/** Neither is negative, and in one-way mode one is zero. */
export interface Holding {
  readonly longLots: number
  readonly shortLots: number
}

export const FLAT: Holding = { longLots: 0, shortLots: 0 }

export function isFlat({ longLots, shortLots }: Holding): boolean {
  return longLots === 0 && shortLots === 0
}

export function isSameHolding(one: Holding, other: Holding): boolean {
  return one.longLots === other.longLots && one.shortLots === other.shortLots
}

export function lotsOn({ longLots, shortLots }: Holding, side: HoldSide): number {
  return side === 'long' ? longLots : shortLots
}

export function netLots(holding: Holding): number {
  return holding.longLots - holding.shortLots
}

export interface HoldingChange {
  readonly side: 'buy' | 'sell'
  /** Ignored in one-way mode. */
  readonly tradeSide: 'open' | 'close'
  readonly lots: number
}

/** In hedge mode `side` is that of the position (document: Direction rules in hedge mode). */
export function applyToHolding(
  mode: PositionMode,
  holding: Holding,
  change: HoldingChange,
): Holding {
  if (mode === 'one_way_mode') {
    const net = netLots(holding) + (change.side === 'buy' ? change.lots : -change.lots)
    return { longLots: Math.max(0, net), shortLots: Math.max(0, -net) }
  }
  const lots = change.tradeSide === 'open' ? change.lots : -change.lots
  return change.side === 'buy'
    ? { longLots: holding.longLots + lots, shortLots: holding.shortLots }
    : { longLots: holding.longLots, shortLots: holding.shortLots + lots }
}

/** Undefined where a trade only opens (hedge mode). */
export function sideClosedBy(
  mode: PositionMode,
  { side, tradeSide }: Pick<HoldingChange, 'side' | 'tradeSide'>,
): HoldSide | undefined {
  if (mode === 'one_way_mode') return side === 'sell' ? 'long' : 'short'
  if (tradeSide === 'open') return undefined
  return side === 'buy' ? 'long' : 'short'
}

/** Money in the margin coin. */
export interface PositionRow {
  readonly holdSide: HoldSide
  readonly lots: number
  readonly openPriceAvg: number
  /** A decimal text, in a backtest a number; empty if it was not stated (MON2). */
  readonly unrealisedProfit: string | number
  /** Since the position opened; empty before the first payment, or if it was not stated. */
  readonly fundingFee: string
  readonly markPrice: number
  /** Here and below, NaN or an absent field means that the exchange did not state it. */
  readonly liquidationPrice: number
  readonly margin?: number
  readonly marginRatio?: number
  readonly maintenanceRate?: number
  readonly positionMode: PositionMode | undefined
  readonly marginMode?: MarginMode | undefined
  readonly leverage?: number | undefined
}

export interface PositionReading {
  readonly symbol: string
  readonly rows: readonly PositionRow[]
  /** The answer states neither a position nor its absence: it can only confirm a flat book. */
  readonly isSilent: boolean
  readonly requestedAt: number
  /** The moment that the answer describes (`requestTime`); exchange clock. */
  readonly exchangeTime: number
}

export interface ExitLevels {
  readonly takeProfitTicks?: number
  readonly stopLossTicks?: number
}

/**
 * Exits are kept until the next position begins, so that the fill that closed this one can be
 * matched.
 */
export interface KeptExits extends ExitLevels {
  readonly clientOid: ClientOid
  readonly strategyId: StrategyId
  /** Absent: the list was not read since the exits were set. */
  readonly listed?: readonly ListedExit[]
}

/** A strategy counts on these: they are of its last order that was filled with exits. */
export interface OrderedExits extends ExitLevels {
  readonly clientOid: ClientOid
}

export type OrderedBySide = Readonly<Partial<Record<HoldSide, OrderedExits>>>

export interface ListedExit {
  readonly kind: 'takeProfit' | 'stopLoss'
  readonly orderId: string
  readonly ticks: number
  /** Here and below: a move repeats these fields. Absent: the whole position. */
  readonly size?: string
  readonly triggerType?: 'mark_price'
  /** Absent: the exit trades at the market. */
  readonly executePrice?: string
}

export interface ListedExits {
  readonly symbol: string
  readonly long: readonly ListedExit[]
  readonly short: readonly ListedExit[]
}

import type { ClientOid, StrategyId } from './ids.ts'
import type { MarginMode, PositionMode } from './instrument.ts'

export type HoldSide = 'long' | 'short'

export const HOLD_SIDES = ['long', 'short'] as const satisfies readonly HoldSide[]

/** Lots, neither negative. In one-way mode one is always zero. */
export interface Holding {
  readonly longLots: number
  readonly shortLots: number
}

export const FLAT: Holding = { longLots: 0, shortLots: 0 }

export function isFlat({ longLots, shortLots }: Holding): boolean {
  return longLots === 0 && shortLots === 0
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

/**
 * In hedge mode `side` is the position's: a close of a long is `buy` + `close`. Document: Direction
 * rules in hedge mode.
 */
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
  /** A decimal text, in a backtest the number; empty if not stated (MON2). */
  readonly unrealisedProfit: string | number
  /** Since the position opened; empty before the first payment, and if not stated. */
  readonly fundingFee: string
  readonly markPrice: number
  /** NaN if not stated; always in a backtest. */
  readonly liquidationPrice: number
  /** Here and below: NaN, undefined or absent if not stated. */
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
  /** Neither a position nor its absence was stated: confirms a flat book, disproves nothing. */
  readonly isSilent: boolean
  readonly requestedAt: number
  /** Exchange clock: the moment that the answer describes (`requestTime`). */
  readonly exchangeTime: number
}

/**
 * They stay until the next position begins, so that the fill that closed this one can be matched.
 */
export interface KeptExits {
  readonly clientOid: ClientOid
  readonly strategyId: StrategyId
  readonly takeProfitTicks?: number
  readonly stopLossTicks?: number
  /** Absent: not read since it was set. */
  readonly listed?: readonly ListedExit[]
}

export interface ListedExit {
  readonly kind: 'takeProfit' | 'stopLoss'
  readonly orderId: string
  readonly ticks: number
  /** A move repeats these. Absent: the whole position. */
  readonly size?: string
  readonly triggerType?: 'mark_price'
  /** Absent: at the market. */
  readonly executePrice?: string
}

export interface ListedExits {
  readonly symbol: string
  readonly long: readonly ListedExit[]
  readonly short: readonly ListedExit[]
}

import type { DistanceTrust, LiquidationDistance } from '../../domain/liquidation.ts'
import type { HoldSide } from '../../domain/position.ts'

/** The account's position in an instrument, by its last reading. */
export interface LiquidationView {
  /** In hedge mode the nearer side. */
  readonly holdSide: HoldSide
  /** Mark price of liquidation in quote coin; NaN if no price liquidates the position. */
  readonly price: number
  /**
   * Distance from the mark price, as a share of it: 0.1 is ten per cent; Infinity if no price
   * liquidates the position.
   */
  readonly distance: number
  /** Distance in typical moves of an hour (median of 24 hours); NaN with fewer than three hours. */
  readonly moves: number
  /**
   * Maintenance margin and closing fee divided by the margin behind the position: liquidation is at
   * 1; NaN if unknown.
   */
  readonly ratio: number
  /**
   * `disputed`: our count and the exchange's differ, and the nearer one is shown; `alone`: they
   * have differed for ten minutes, and ours is shown; `ours`, `stated`: only one exists.
   */
  readonly trust: DistanceTrust
}

/** Undefined without a position, or if nothing is known of it yet. */
export function buildLiquidation(
  distances: readonly LiquidationDistance[] | undefined,
): LiquidationView | undefined {
  const [nearest] = (distances ?? [])
    .filter(({ trust }) => trust !== 'none')
    .toSorted((one, other) => one.nearest - other.nearest)
  if (nearest === undefined) return undefined
  const { holdSide, ourPrice, statedPrice, ours, moves, ratio, statedRatio, trust } = nearest
  return Object.freeze({
    holdSide,
    price: nearest.nearest === ours ? ourPrice : statedPrice,
    distance: nearest.nearest,
    moves,
    ratio: Number.isNaN(ratio) ? statedRatio : ratio,
    trust,
  })
}

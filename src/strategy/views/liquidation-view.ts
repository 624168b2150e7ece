import type { DistanceTrust, LiquidationDistance } from '../../domain/liquidation.ts'
import type { HoldSide } from '../../domain/position.ts'

/** How far what the whole account holds of an instrument is from a liquidation, by the last reading of its position. */
export interface LiquidationView {
  /** In hedge mode the side that is nearer. */
  readonly holdSide: HoldSide
  /** Mark price at which the exchange would close it, quote coin; NaN where no price does. */
  readonly price: number
  /** From the mark price, as a share of it: 0.1 is ten per cent; Infinity where no price liquidates it. */
  readonly distance: number
  /** The same in typical moves of an hour (the median of the last 24 hours); NaN while fewer than three hours are known. */
  readonly moves: number
  /** Maintenance margin and the fee of closing over what stands behind it: at 1 it is liquidated; NaN where it is not known. */
  readonly ratio: number
  /**
   * Whether our own count and the exchange's figure agree. While they are `disputed` the nearer one is shown; `alone`: they
   * have differed for ten minutes, and ours is shown; `ours`, `stated`: there is only one.
   */
  readonly trust: DistanceTrust
}

/** Undefined where nothing is held, or nothing is known of it yet. */
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

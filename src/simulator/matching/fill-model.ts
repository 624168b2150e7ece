/**
 * It is unknown how a market would have treated an order that was not there. A result that holds
 * under only one of these models is no result.
 */
export const FILL_MODELS = ['pessimistic', 'default', 'optimistic'] as const
export type FillModelName = (typeof FILL_MODELS)[number]

export interface FillModel {
  readonly name: FillModelName
  /** Share of a candle's volume (else a minute's) that all orders together may have. */
  readonly participation: number
  readonly participationAtOnce: number
  /**
   * Decides about a trade at a resting order's price: `queue` fills the order once the size
   * displayed before it has traded, `front` at once.
   */
  readonly touch: 'never' | 'queue' | 'front'
  /** Applies only behind the queue. */
  readonly touchShare: number
  /**
   * Market time after which half of a taken size has reappeared; at 0 all of it at the next quote.
   */
  readonly recoveryMs: number
}

export interface MatchingRules {
  readonly model: FillModel
  readonly levelsMax: number
  /** Market time for each ms of the exchange's clock. */
  readonly speed: number
}

const MODELS: Readonly<Record<FillModelName, FillModel>> = {
  pessimistic: {
    name: 'pessimistic',
    participation: 0.05,
    participationAtOnce: 0.25,
    touch: 'never',
    touchShare: 0,
    recoveryMs: 30_000,
  },
  default: {
    name: 'default',
    participation: 0.1,
    participationAtOnce: 0.5,
    touch: 'queue',
    touchShare: 0.5,
    recoveryMs: 10_000,
  },
  optimistic: {
    name: 'optimistic',
    participation: 1,
    participationAtOnce: 1,
    touch: 'front',
    touchShare: 1,
    recoveryMs: 0,
  },
}

export function fillModel(name: FillModelName): FillModel {
  return MODELS[name]
}

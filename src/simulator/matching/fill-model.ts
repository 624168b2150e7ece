/**
 * What is assumed of fills. Nobody knows what a market would have done with an order that was not there; these are
 * three answers, from careful to generous. A result that holds under one of them alone is no result.
 */
export const FILL_MODELS = ['pessimistic', 'default', 'optimistic'] as const
export type FillModelName = (typeof FILL_MODELS)[number]

export interface FillModel {
  readonly name: FillModelName
  /** Of what is traded in a candle (a minute, where there are none), all orders together may have this share. */
  readonly participation: number
  /** And of that, this share at one quote. */
  readonly participationAtOnce: number
  /**
   * A trade at the price of a resting order, and not through it: `never` fills it; `queue`: once what was displayed
   * there before it has traded; `front`: at once.
   */
  readonly touch: 'never' | 'queue' | 'front'
  /** What of such trades, behind the queue, its orders get. */
  readonly touchShare: number
  /** What orders took is displayed again by half after so long, ms of the market's time; 0: at the next quote. */
  readonly recoveryMs: number
}

/** How the orders of futures, spot and margin are matched. */
export interface MatchingRules {
  readonly model: FillModel
  /** Levels of a quote that an order finds. */
  readonly levelsMax: number
  /** Ms of the market's time in one of the exchange's clock. */
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

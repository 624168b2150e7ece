import type { ContractRules } from './contract-rules.ts'

/**
 * - `volume`: of 24 h, in USDT
 * - `change`: over 24 h, a signed share
 * - `volatility`: the range of 24 h, a share of the last price
 * - `spread`: between bid and ask, a share of the middle
 */
export const UNIVERSE_MEASURES = ['volume', 'change', 'volatility', 'spread'] as const

export type UniverseMeasure = (typeof UNIVERSE_MEASURES)[number]

/**
 * - `close`: the position is closed
 * - `keep`: the strategy may reduce it until it is flat
 * - `handBack`: orders are cancelled, and the position stays without an owner
 */
export const LEAVING_POLICIES = ['close', 'keep', 'handBack'] as const

export type LeavingPolicy = (typeof LEAVING_POLICIES)[number]

export interface ValueRange {
  readonly min?: number | undefined
  readonly max?: number | undefined
}

/** While members leave, there may be up to so many times the configured count. */
export const LEAVING_TIMES = 2

/** Names are symbols, or patterns with `*` for any text. */
export interface UniverseRule {
  readonly everyMs: number
  /** The quote coin. */
  readonly quote?: string | undefined
  readonly volumeMin?: number | undefined
  readonly spreadMax?: number | undefined
  readonly ageMinMs?: number | undefined
  readonly volatility?: ValueRange | undefined
  readonly price?: ValueRange | undefined
  readonly include: readonly string[]
  readonly exclude: readonly string[]
  readonly top: {
    readonly count: number
    readonly by: UniverseMeasure
    readonly order: 'highest' | 'lowest'
  }
  /** A member stays at least so long, unless it is excluded or not listed any more. */
  readonly stickyMs: number
  /** Members that are excluded or not listed any more leave all the same. */
  readonly changesPerDay?: number | undefined
  readonly leaving: LeavingPolicy
}

export const UNIVERSE_REASONS = [
  'ranked',
  'included',
  'sticky',
  'changesUsed',
  'unconfirmed',
  'fixed',
  'excluded',
  'otherQuote',
  'delivery',
  'notListed',
  'noContract',
  'notTradable',
  'restricted',
  'gridConflict',
  'orderTooLarge',
  'marginTooLarge',
  'noRule',
  'noTicker',
  'noPrice',
  'priceLow',
  'priceHigh',
  'noVolume',
  'volumeLow',
  'noSpread',
  'spreadWide',
  'young',
  'noRange',
  'volatilityLow',
  'volatilityHigh',
  'noMeasure',
  'outranked',
  'waitsForPlace',
  'noRoom',
] as const

export type UniverseReason = (typeof UNIVERSE_REASONS)[number]

export interface UniverseVerdict {
  readonly isIn: boolean
  readonly reason: UniverseReason
  /** A measure, an age in ms, a rank, an instant, or a count. */
  readonly value?: number
  readonly limit?: number
  /** The exchange states no listing time, so the age counts from when it was first seen. */
  readonly isSeenOnly?: true
  readonly text?: string
  readonly objection?: UniverseReason
}

export interface UniverseMember {
  /** Exchange clock. */
  readonly since: number
  readonly leavingSince?: number
  readonly rules: ContractRules
}

/** The book keeps it as JSON. Instants are of the exchange's clock. */
export interface KeptUniverse {
  readonly evaluatedAt: number
  readonly rule: string
  readonly members: Readonly<Record<string, UniverseMember>>
  readonly departures: readonly number[]
  readonly firstSeen: Readonly<Record<string, number>>
  /** `at`: when the verdict came up first. */
  readonly verdicts: Readonly<Record<string, UniverseVerdict & { readonly at: number }>>
}

export interface UniverseLeaving {
  readonly policy: LeavingPolicy
  /** Exchange clock. */
  readonly since: number
  readonly verdict: UniverseVerdict
}

/** Evaluations are refused while most of the exchange's list is missing. */
export interface UniverseRefusal {
  /** The first and the last refusal in a row; exchange clock. */
  readonly since: number
  readonly at: number
  readonly known: number
  readonly missing: number
}

/** Instants are of the exchange's clock. */
export interface UniverseMemory {
  readonly evaluatedAt: number
  readonly members: ReadonlyMap<string, UniverseMember>
  readonly departures: readonly number[]
  /** Instruments of which the exchange states no listing time. */
  readonly firstSeen: ReadonlyMap<string, number>
  readonly unconfirmed: ReadonlySet<string>
}

export const NO_UNIVERSE: UniverseMemory = {
  evaluatedAt: 0,
  members: new Map(),
  departures: [],
  firstSeen: new Map(),
  unconfirmed: new Set(),
}

/** All lists are sorted by symbol. */
export interface UniverseChoice {
  readonly joined: readonly string[]
  readonly left: readonly string[]
  readonly verdicts: ReadonlyMap<string, UniverseVerdict>
  readonly seen: readonly string[]
  readonly forgotten: readonly string[]
}

/** Evaluations are due at multiples of the interval; unconfirmed verdicts in the next minute. */
export function isUniverseDue(
  { everyMs }: Pick<UniverseRule, 'everyMs'>,
  {
    evaluatedAt,
    hasUnconfirmed,
  }: { readonly evaluatedAt: number; readonly hasUnconfirmed: boolean },
  at: number,
): boolean {
  const stepMs = hasUnconfirmed ? judgedAgainMs({ everyMs }) : everyMs
  return Math.floor(at / stepMs) > Math.floor(evaluatedAt / stepMs)
}

/**
 * Judges at most once a minute, because a replay has only the first answer of each
 * (`recordUniverse`).
 */
function judgedAgainMs({ everyMs }: Pick<UniverseRule, 'everyMs'>): number {
  return Math.min(everyMs, 60_000)
}

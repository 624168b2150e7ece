import type { ContractRules } from './contract-rules.ts'

/**
 * `volume`: of 24 h, in USDT · `change`: of 24 h, as a share, signed · `volatility`: the range of
 * 24 h as a share of the last price · `spread`: between bid and ask, as a share of the middle.
 */
export const UNIVERSE_MEASURES = ['volume', 'change', 'volatility', 'spread'] as const

export type UniverseMeasure = (typeof UNIVERSE_MEASURES)[number]

/**
 * `close`: what is held is closed · `keep`: the strategy may reduce it, until it is flat ·
 * `handBack`: orders are cancelled, and what is held stays, for nobody.
 */
export const LEAVING_POLICIES = ['close', 'keep', 'handBack'] as const

export type LeavingPolicy = (typeof LEAVING_POLICIES)[number]

export interface ValueRange {
  readonly min?: number | undefined
  readonly max?: number | undefined
}

/** While members leave, so many times the count may be members together. */
export const LEAVING_TIMES = 2

/** Names are symbols, or patterns with `*` for any text. */
export interface UniverseRule {
  readonly everyMs: number
  /** Quote coin. Absent: any. */
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
  /** A member stays at least so long, unless excluded or no longer listed. */
  readonly stickyMs: number
  /** Members that are excluded or no longer listed always leave. Absent: any number. */
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
  /** The exchange states no listing. */
  readonly isSeenOnly?: true
  readonly text?: string
  readonly objection?: UniverseReason
}

export interface UniverseMember {
  /** Unix ms, exchange clock. */
  readonly since: number
  /** Absent: it is not leaving. */
  readonly leavingSince?: number
  readonly rules: ContractRules
}

/** As the book keeps it: plain JSON. */
export interface KeptUniverse {
  /** Unix ms, exchange clock. */
  readonly evaluatedAt: number
  readonly rule: string
  readonly members: Readonly<Record<string, UniverseMember>>
  readonly departures: readonly number[]
  readonly firstSeen: Readonly<Record<string, number>>
  /** When a verdict came up first, Unix ms, exchange clock. */
  readonly verdicts: Readonly<Record<string, UniverseVerdict & { readonly at: number }>>
}

export interface UniverseLeaving {
  readonly policy: LeavingPolicy
  /** Unix ms, exchange clock. */
  readonly since: number
  readonly verdict: UniverseVerdict
}

/** Most of the exchange's list was missing. */
export interface UniverseRefusal {
  /** Exchange clock: the first and the last one in a row. */
  readonly since: number
  readonly at: number
  readonly known: number
  readonly missing: number
}

/** Unix ms, exchange clock. */
export interface UniverseMemory {
  readonly evaluatedAt: number
  readonly members: ReadonlyMap<string, UniverseMember>
  readonly departures: readonly number[]
  /** The exchange states no listing of these. */
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

/** Lists are sorted by symbol. */
export interface UniverseChoice {
  readonly joined: readonly string[]
  readonly left: readonly string[]
  readonly verdicts: ReadonlyMap<string, UniverseVerdict>
  readonly seen: readonly string[]
  readonly forgotten: readonly string[]
}

/**
 * Times of evaluations are multiples of the interval; what is unconfirmed is judged again in the
 * next minute.
 */
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

/** Replays have only the first answer of each minute (`recordUniverse`). */
function judgedAgainMs({ everyMs }: Pick<UniverseRule, 'everyMs'>): number {
  return Math.min(everyMs, 60_000)
}

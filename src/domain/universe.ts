/** A strategy's instruments, where a rule chooses them among all listed ones. */
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
  /** Always chosen first, while they can be traded. */
  readonly include: readonly string[]
  readonly exclude: readonly string[]
  readonly top: {
    readonly count: number
    readonly by: UniverseMeasure
    readonly order: 'highest' | 'lowest'
  }
  /** A member stays at least so long, unless excluded or no longer listed. */
  readonly stickyMs: number
  /**
   * Leaving within 24 h at most. Those excluded or no longer listed always leave. Absent: any
   * number.
   */
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
  /** The value that was judged: a measure, an age in ms, a rank, an instant, a count. */
  readonly value?: number
  readonly limit?: number
  /** Counted from its first sight, since the exchange states no listing. */
  readonly isSeenOnly?: true
  /** Word of the exchange, for `notTradable`. */
  readonly text?: string
  /** Why one that is `unconfirmed` would leave. */
  readonly objection?: UniverseReason
}

export interface UniverseMember {
  /** Unix ms, exchange clock, when it joined. */
  readonly since: number
  /** Unix ms, exchange clock. Absent: it is not leaving. */
  readonly leavingSince?: number
  readonly rules: ContractRules
}

/** As the book keeps it: plain JSON. */
export interface KeptUniverse {
  /** Unix ms, exchange clock, of the last evaluation. */
  readonly evaluatedAt: number
  /** The rule that was evaluated, as JSON. */
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

/** An evaluation that was not carried out, since most of the exchange's list was missing. */
export interface UniverseRefusal {
  /** Exchange clock: of the first one in a row, and of the last. */
  readonly since: number
  readonly at: number
  /** Instruments of the evaluation before, and how many of them the answer lacks. */
  readonly known: number
  readonly missing: number
}

/** One evaluation hands it to the next. Unix ms, exchange clock. */
export interface UniverseMemory {
  readonly evaluatedAt: number
  readonly members: ReadonlyMap<string, UniverseMember>
  /** When members left, within the last 24 h. */
  readonly departures: readonly number[]
  /** Keyed by symbol, where the exchange states no listing. */
  readonly firstSeen: ReadonlyMap<string, number>
  /** Members that the last evaluation would have let go. */
  readonly unconfirmed: ReadonlySet<string>
}

export const NO_UNIVERSE: UniverseMemory = {
  evaluatedAt: 0,
  members: new Map(),
  departures: [],
  firstSeen: new Map(),
  unconfirmed: new Set(),
}

/** One evaluation. Lists are sorted by symbol. */
export interface UniverseChoice {
  readonly joined: readonly string[]
  readonly left: readonly string[]
  readonly verdicts: ReadonlyMap<string, UniverseVerdict>
  /** Seen for the first time, without a stated time of the listing. */
  readonly seen: readonly string[]
  /** Nothing lists them, so their first sight is forgotten. */
  readonly forgotten: readonly string[]
}

/**
 * Whether a rule is to be evaluated at this instant. Times of evaluations are multiples of the
 * interval; what is unconfirmed is judged again in the next minute.
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

/** The first answer of each minute is kept for replays (`recordUniverse`), so none between counts. */
function judgedAgainMs({ everyMs }: Pick<UniverseRule, 'everyMs'>): number {
  return Math.min(everyMs, 60_000)
}

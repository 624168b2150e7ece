import type { Holding, HoldSide } from './position.ts'
import type { Scope } from './trading-mode.ts'

/** Loss limits of a scope; an absent one does not apply. Amounts in the margin coin, above zero. */
export interface LossLimits {
  /** Loss below the net profit at the start of the day. */
  readonly daily?: number
  /**
   * Loss below the peak: for the account a share of its peak equity, for other scopes an amount.
   */
  readonly drawdown?: { readonly [step in DrawdownStep]?: number }
  /** For a strategy: losing trades in a row on one instrument. A trade goes from flat to flat. */
  readonly streak?: number
}

/** The steps of a drawdown, from the mildest to the strictest. */
export const DRAWDOWN_STEPS = ['warn', 'reducing', 'flatten'] as const
export type DrawdownStep = (typeof DRAWDOWN_STEPS)[number]

/**
 * The reference values of a scope's losses. Net profit is realised less fees, with funding and
 * unrealised.
 */
export interface Watermark {
  readonly scope: Scope
  /** Unix ms, our clock: the start of the day of `dayNet`. */
  readonly dayFrom: number
  /** Net profit when the day was first judged, or after the last release; null: not taken yet. */
  readonly dayNet: number | null
  /** The highest net profit; null: not taken yet. */
  readonly peak: number | null
  /**
   * The peak of the last drawdown step after an earlier step was released, while it is above
   * `peak`.
   */
  readonly lastPeak?: number
}

/** How much of its limits a scope has used, in the margin coin, by our own figure. */
export interface UsedLoss {
  readonly scope: Scope
  readonly net: number
  /** Loss below the net profit at the start of the day, and below the peak; 0 above it. */
  readonly dayLoss: number
  readonly drawdown: number
  /** As a share of the peak equity; only for the account. */
  readonly drawdownShare?: number
  /** The drawdown of the last step: for the account a share, for other scopes an amount. */
  readonly lastDrawdown: number
  /** Net profits: the peak of the earlier steps, and the peak of the last one. */
  readonly peak: number
  readonly lastPeak: number
}

/** The fall of a scope by one of the figures of {@link Worth}; NaN while that is not known. */
export interface Fall {
  readonly dayLoss: number
  /**
   * In the unit of its limits: for the account a share of the peak equity, for other scopes an
   * amount.
   */
  readonly drawdown: number
  /** Below the peak of the last step. */
  readonly lastDrawdown: number
}

/** The equity of the account, in the margin coin. */
export interface Equity {
  /** Capital plus net profit. */
  readonly equity: number
  /**
   * The highest equity: since a release reset the peak if the drawdown is limited, else since the
   * run began.
   */
  readonly peak: number
  /** How far the equity is below the peak; 0 at the peak. */
  readonly drawdown: number
}

/** The exchange's statement of a position when it was last read. Money in the margin coin. */
export interface PositionStatement extends Holding {
  /** NaN if it is not stated. */
  readonly unrealised: number
  readonly markPrice: number
  /**
   * The liquidation price of each side (quote coin), the margin that each binds, and maintenance
   * margin over its collateral; NaN if not stated.
   */
  readonly liquidation: Readonly<Record<HoldSide, number>>
  readonly margin: Readonly<Record<HoldSide, number>>
  readonly marginRatio: Readonly<Record<HoldSide, number>>
  /** Unix ms, our clock, when it was requested. */
  readonly requestedAt: number
}

/**
 * How far a net profit can be trusted. `flat`: nothing is held, so no price matters · `agreed`: our
 * figure and the exchange's agree · `disputed`: they do not · `alone`: they have differed for so
 * long that only ours counts.
 */
export type Trust = 'flat' | 'agreed' | 'disputed' | 'alone'

/** A net profit with the times of the answers behind it. */
export interface WitnessedNet {
  readonly trust: Trust
  readonly net: number
  /** Our own figure, whichever one counted. */
  readonly ours: number
  /** Unix ms: when the position was requested, and when the exchange stated the prices. */
  readonly positionAt: number
  readonly tickersAt: number
}

/**
 * Net profit of an instrument, or of a strategy on one, in the margin coin. NaN: not known. A limit
 * is reached only if even `believed` is beyond it, a flatten waits for `confirmed`, and a peak
 * rises to `low` at most (MON1).
 */
export interface Worth {
  readonly trust: Trust
  /** Our own figure, and the exchange's. */
  readonly ours: number
  readonly theirs: number
  /** The best of all figures that count now. */
  readonly believed: number
  /**
   * The better and the worse of two readings from different answers; the worse only while the
   * figures agree.
   */
  readonly confirmed: number
  readonly low: number
  /**
   * The median of three such readings of our own figure, so that no single one decides where a day
   * or a first peak begins; only where that figure may be judged.
   */
  readonly basis: number
  /**
   * The reading that the next one from other answers is compared with, and our own figure in the
   * one before it.
   */
  readonly base: WitnessedNet
  readonly earlier: number
}

/**
 * Net profits of scopes, as far as they were judged in this run. Changed only by
 * `engine/state/losses.ts`.
 */
export interface LossState {
  /** Keyed by symbol. */
  readonly statements: ReadonlyMap<string, PositionStatement>
  /** Keyed by symbol and side: a funding counter that one reading has stated and another must confirm. */
  readonly statedCounters: ReadonlyMap<
    string,
    { readonly counter: string; readonly requestedAt: number }
  >
  /**
   * Keyed by symbol and side: the average entry price, in ticks, that the exchange stated once for lots
   * which no fill explains.
   */
  readonly statedEntries: ReadonlyMap<
    string,
    { readonly ticks: number; readonly requestedAt: number }
  >
  /**
   * Keyed by symbol, and by strategy and symbol: net profit when reading and book last agreed on the
   * position.
   */
  readonly worths: ReadonlyMap<string, Worth>
  /** Keyed by scope: the highest net profit. The book lags behind it by a small rise at most. */
  readonly peaks: ReadonlyMap<string, number>
  readonly used: ReadonlyMap<string, UsedLoss>
  /** The scopes whose drawdown is beyond its first step. */
  readonly warned: ReadonlySet<string>
  /** The scopes whose flatten waits for a second reading. */
  readonly awaited: ReadonlySet<string>
  /**
   * Keyed by symbol: when its position was last requested because of a dispute or a flatten; Unix ms, our
   * clock.
   */
  readonly askedAt: ReadonlyMap<string, number>
}

/**
 * How far two figures of one amount may differ, and how long a dispute about them may stay open.
 */
export interface FigureSettings {
  /** As a share of the position's value. */
  readonly toleranceRatio: number
  /** The minimum tolerance, in the quote coin. */
  readonly toleranceMin: number
  /** After a dispute of this length, in ms, only our own figure is judged. */
  readonly disputeMsMax: number
  /**
   * Our own figure is then judged only at prices this close to the index, and to their own bid and
   * ask.
   */
  readonly indexBandRatio: number
}

/**
 * The mark price and the last price of a contract differ by some hundredths of a percent, and in a
 * quick market by some tenths. The index of spot markets stays within some percent even in a crash.
 */
export const DEFAULT_FIGURES: FigureSettings = {
  toleranceRatio: 0.005,
  toleranceMin: 1,
  disputeMsMax: 10_000,
  indexBandRatio: 0.05,
}

export const DISPUTED_FIGURES = ['unrealised', 'fills', 'liquidation'] as const
export type DisputedFigure = (typeof DISPUTED_FIGURES)[number]

/**
 * Two witnesses of one figure differ, or one of them says nothing (MON1).
 *
 *     (agreed) ──a comparison finds a difference──► open ──a later one finds none──► (agreed)
 *
 * `unrealised` is the profit of an instrument's position, ours against the exchange's; `fills` is what the book says of the
 * account against a second count of its fills; `liquidation` is where a position would be liquidated.
 */
export interface Dispute {
  readonly figure: DisputedFigure
  readonly scope: Scope
  /** Both figures, in words. */
  readonly ours: string
  readonly theirs: string
  /** Unix ms, our clock, as are the two below. */
  readonly since: number
  readonly comparedAt: number
  /** When it begins to count as lasting: a time in which nothing was compared does not count. */
  readonly countedFrom: number
  /** How many comparisons in a row have found a difference. */
  readonly comparisons: number
  /**
   * The last reading by which the figures agreed, until another confirms that: Unix ms; undefined:
   * they differ.
   */
  readonly agreedBy: number | undefined
  readonly isLogged: boolean
}

/** Changed only by `disputes.ts`. */
export interface DisputeState {
  /** Keyed by figure and scope. */
  readonly open: ReadonlyMap<string, Dispute>
  /**
   * The scopes that may only reduce during a dispute because the worse figure has reached a limit.
   */
  readonly reduced: ReadonlyMap<Scope, { readonly reason: string; readonly since: number }>
}

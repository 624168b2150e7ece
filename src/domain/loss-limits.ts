import type { Holding, HoldSide } from './position.ts'
import type { Scope } from './trading-mode.ts'

/** Margin coin, above zero. An absent limit does not apply. */
export interface LossLimits {
  readonly daily?: number
  /**
   * The fall below the peak: a share of the peak equity for the account, an amount for a strategy
   * or an instrument.
   */
  readonly drawdown?: { readonly [step in DrawdownStep]?: number }
  readonly streak?: number
}

/** Sums of decimals as floats are slightly off. */
export function isLossReached(lost: number, limit: number): boolean {
  return lost >= limit * (1 - 1e-9)
}

/** The drawdown of the account. Its peak is below zero where more was withdrawn, out of profit. */
export function shareBelow(peakEquity: number, fallen: number): number {
  return fallen / Math.max(peakEquity, 1e-9)
}

export const DRAWDOWN_STEPS = ['warn', 'reducing', 'flatten'] as const
export type DrawdownStep = (typeof DRAWDOWN_STEPS)[number]

/**
 * Losses of a scope count from here, in net profit: realised less fees, funding, and unrealised.
 */
export interface Watermark {
  readonly scope: Scope
  readonly dayFrom: number
  /** Here and for `peak`, null means that no figure was believed yet. */
  readonly dayNet: number | null
  readonly peak: number | null
  /** The peak of the last drawdown step. A release of an earlier step keeps it. */
  readonly lastPeak?: number
}

/** Margin coin. */
export interface UsedLoss {
  readonly scope: Scope
  readonly net: number
  readonly dayLoss: number
  readonly drawdown: number
  readonly drawdownShare?: number
  /** As for {@link LossLimits.drawdown}. */
  readonly lastDrawdown: number
  readonly peak: number
  readonly lastPeak: number
}

/** NaN: not known. */
export interface Fall {
  readonly dayLoss: number
  readonly drawdown: number
  readonly lastDrawdown: number
}

export interface Equity {
  readonly equity: number
  /** Since a release; without a limit, since the run began. */
  readonly peak: number
  readonly drawdown: number
}

/** The last statement of the exchange about a position, margin coin. */
export interface PositionStatement extends Holding {
  readonly unrealised: number
  readonly markPrice: number
  /** Here and below, NaN means that the exchange did not state it. Quote coin. */
  readonly liquidation: Readonly<Record<HoldSide, number>>
  readonly margin: Readonly<Record<HoldSide, number>>
  /** Maintenance margin over the collateral. */
  readonly marginRatio: Readonly<Record<HoldSide, number>>
  readonly requestedAt: number
}

/**
 * `flat`: nothing is held, so no price matters · `agreed`: our figure and the exchange's agree ·
 * `disputed`: they do not · `alone`: they have not for so long that only ours counts.
 */
export type Trust = 'flat' | 'agreed' | 'disputed' | 'alone'

export interface WitnessTimes {
  readonly positionAt: number
  readonly tickersAt: number
}

export interface WitnessedNet extends WitnessTimes {
  readonly trust: Trust
  readonly net: number
  readonly ours: number
}

/**
 * Net profit of an instrument, or of a strategy on one, margin coin. NaN: not known. A limit is
 * reached only if `believed` is beyond it, a flatten waits for `confirmed`, and a peak rises to
 * `low` at most (MON1).
 */
export interface Worth {
  readonly trust: Trust
  readonly ours: number
  readonly theirs: number
  readonly believed: number
  readonly least: number
  /** The better of two readings from different answers. */
  readonly confirmed: number
  /** The same as of the last reading: prices alone confirm nothing. */
  readonly confirmedRead: number
  /** The worse of the two, if our figure and the exchange's agree. */
  readonly low: number
  /** The median of three readings, so that no single one decides where a day or a peak begins. */
  readonly basis: number
  readonly base: WitnessedNet
  readonly earlier: number
}

export interface LossState {
  readonly statements: ReadonlyMap<string, PositionStatement>
  /** Keyed by symbol and side: counters of funding that another reading has to confirm. */
  readonly statedCounters: ReadonlyMap<
    string,
    { readonly counter: string; readonly requestedAt: number }
  >
  /** Keyed by symbol and side: average prices that another reading has to confirm. */
  readonly statedEntries: ReadonlyMap<
    string,
    { readonly ticks: number; readonly requestedAt: number }
  >
  /** Keyed by symbol, and by strategy and symbol. */
  readonly worths: ReadonlyMap<string, Worth>
  /** Keyed by scope. The book may lack a small rise. */
  readonly peaks: ReadonlyMap<string, number>
  readonly used: ReadonlyMap<string, UsedLoss>
  readonly warned: ReadonlySet<string>
  readonly awaited: ReadonlySet<string>
  /** Keyed by symbol: when a reading of the position was asked for out of turn. */
  readonly askedAt: ReadonlyMap<string, number>
  /** When positions that are not read were compared last; 0: never. */
  readonly unreadAt: number
}

export interface FigureSettings {
  readonly toleranceRatio: number
  readonly toleranceMin: number
  /**
   * After a longer dispute only our figure counts, at prices within `indexBandRatio` of the index.
   */
  readonly disputeMsMax: number
  readonly indexBandRatio: number
}

/**
 * Mark and last price differ by hundredths of a percent, in a quick market by tenths. Spot indexes
 * stay within some percent even in a crash.
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
 * A dispute is open while two witnesses of one figure differ, or one says nothing (MON1).
 *
 *     (agreed) ──a comparison finds a difference──► open ──a later one finds none──► (agreed)
 *
 * `unrealised`: an instrument's profit, ours against the exchange's. `fills`: the book against a
 * second count. `liquidation`: where a position would be liquidated.
 */
export interface Dispute {
  readonly figure: DisputedFigure
  readonly scope: Scope
  readonly ours: string
  readonly theirs: string
  readonly since: number
  readonly comparedAt: number
  /** Time without comparisons does not count. */
  readonly countedFrom: number
  readonly comparisons: number
  /** The time of a reading by which the figures agree, until another one confirms that. */
  readonly agreedBy: number | undefined
  /** If a witness was only missing, a single reading that agrees ends the dispute. */
  readonly hasDiffered: boolean
  readonly isLogged: boolean
}

export interface DisputeState {
  readonly open: ReadonlyMap<string, Dispute>
  /** Scopes that may only reduce, because the worse figure has reached a limit. */
  readonly reduced: ReadonlyMap<Scope, { readonly reason: string; readonly since: number }>
}

import type { Holding, HoldSide } from './position.ts'
import type { Scope } from './trading-mode.ts'

/** An absent limit does not apply. Margin coin, above zero. */
export interface LossLimits {
  readonly daily?: number
  /** Below the peak: for the account a share of its peak equity, else an amount. */
  readonly drawdown?: { readonly [step in DrawdownStep]?: number }
  readonly streak?: number
}

export const DRAWDOWN_STEPS = ['warn', 'reducing', 'flatten'] as const
export type DrawdownStep = (typeof DRAWDOWN_STEPS)[number]

/** Net profit is realised less fees, with funding and unrealised. */
export interface Watermark {
  readonly scope: Scope
  readonly dayFrom: number
  /** Null: no judgement yet. */
  readonly dayNet: number | null
  readonly peak: number | null
  /** The last step's, kept over a release of an earlier step while above `peak`. */
  readonly lastPeak?: number
}

/** Margin coin. */
export interface UsedLoss {
  readonly scope: Scope
  readonly net: number
  readonly dayLoss: number
  readonly drawdown: number
  readonly drawdownShare?: number
  /** For the account a share, else an amount. */
  readonly lastDrawdown: number
  readonly peak: number
  readonly lastPeak: number
}

/** NaN while not known. */
export interface Fall {
  readonly dayLoss: number
  readonly drawdown: number
  readonly lastDrawdown: number
}

export interface Equity {
  readonly equity: number
  /** From a release, or with an unlimited drawdown from the run's beginning. */
  readonly peak: number
  readonly drawdown: number
}

/** Margin coin. */
export interface PositionStatement extends Holding {
  readonly unrealised: number
  readonly markPrice: number
  /**
   * Keyed by side: price (quote coin), bound margin, and maintenance margin over its collateral;
   * NaN if not stated.
   */
  readonly liquidation: Readonly<Record<HoldSide, number>>
  readonly margin: Readonly<Record<HoldSide, number>>
  readonly marginRatio: Readonly<Record<HoldSide, number>>
  readonly requestedAt: number
}

/**
 * `flat`: no price matters · `agreed`: our figure and the exchange's agree · `disputed`: they do
 * not · `alone`: for so long that only ours counts.
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
 * reached only if even `believed` is beyond it, a flatten waits for `confirmed`, and a peak rises
 * to `low` at most (MON1).
 */
export interface Worth {
  readonly trust: Trust
  readonly ours: number
  readonly theirs: number
  readonly believed: number
  readonly least: number
  /**
   * The better and the worse of two readings from different answers; the worse only while the
   * figures agree.
   */
  readonly confirmed: number
  readonly low: number
  /**
   * The median of three own readings, so that no single one decides where a day or a peak begins.
   */
  readonly basis: number
  readonly base: WitnessedNet
  readonly earlier: number
}

/** Only `engine/state/losses.ts` changes it. */
export interface LossState {
  readonly statements: ReadonlyMap<string, PositionStatement>
  /** Keyed by symbol and side; awaits confirmation. */
  readonly statedCounters: ReadonlyMap<
    string,
    { readonly counter: string; readonly requestedAt: number }
  >
  /**
   * Keyed by symbol and side: average entry of lots that no fill explains, awaiting confirmation.
   */
  readonly statedEntries: ReadonlyMap<
    string,
    { readonly ticks: number; readonly requestedAt: number }
  >
  /** Keyed by symbol, and by strategy and symbol. */
  readonly worths: ReadonlyMap<string, Worth>
  /** Keyed by scope. The book lags by a small rise at most. */
  readonly peaks: ReadonlyMap<string, number>
  readonly used: ReadonlyMap<string, UsedLoss>
  readonly warned: ReadonlySet<string>
  readonly awaited: ReadonlySet<string>
  /** Keyed by symbol: a dispute or a flatten needed it. */
  readonly askedAt: ReadonlyMap<string, number>
}

export interface FigureSettings {
  readonly toleranceRatio: number
  readonly toleranceMin: number
  /**
   * Then only our figure is judged, at prices within `indexBandRatio` of the index and inside their
   * own bid and ask.
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
 * Two witnesses of one figure differ, or one is silent (MON1).
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
  /** The last reading by which the figures agreed, until another confirms that. */
  readonly agreedBy: number | undefined
  /** If one was only missing, a single reading that agrees ends it. */
  readonly hasDiffered: boolean
  readonly isLogged: boolean
}

/** Changed only by `disputes.ts`. */
export interface DisputeState {
  readonly open: ReadonlyMap<string, Dispute>
  /** The worse figure has reached a limit. */
  readonly reduced: ReadonlyMap<Scope, { readonly reason: string; readonly since: number }>
}

import type { Holding, HoldSide } from './position.ts'
import type { Scope } from './trading-mode.ts'

/** What may be lost in a scope; what is absent is not limited. Amounts in the margin coin, above zero. */
export interface LossLimits {
  /** Below the net profit with which the day began. */
  readonly daily?: number
  /** Below the peak: of the account as a share of the peak of its equity, else an amount. */
  readonly drawdown?: { readonly [step in DrawdownStep]?: number }
  /** Of a strategy: trades in a row that lost, on one instrument. A trade is from flat to flat. */
  readonly streak?: number
}

/** The steps of a drawdown, from the mildest to the strictest. */
export const DRAWDOWN_STEPS = ['warn', 'reducing', 'flatten'] as const
export type DrawdownStep = (typeof DRAWDOWN_STEPS)[number]

/** From where the losses of a scope are counted. Net profit is realised less fees, with funding and unrealised. */
export interface Watermark {
  readonly scope: Scope
  /** Unix ms, our clock: when the day began that `dayNet` is of. */
  readonly dayFrom: number
  /** Net profit when the day was first judged, or after the last release; null: to be taken anew. */
  readonly dayNet: number | null
  /** The highest net profit; null: to be taken anew. */
  readonly peak: number | null
  /** From where the last step of the drawdown counts after a release of an earlier one, as long as it is above `peak`. */
  readonly lastPeak?: number
}

/** How much of its limits a scope has used, in the margin coin, by our own figure. */
export interface UsedLoss {
  readonly scope: Scope
  readonly net: number
  /** Below the net profit of the day's begin, and below the peak; 0 where it is above. */
  readonly dayLoss: number
  readonly drawdown: number
  /** As a share of the peak of the equity; of the account alone. */
  readonly drawdownShare?: number
  /** The same, as the last step of the drawdown counts it: of the account a share, else an amount. */
  readonly lastDrawdown: number
  /** Net profits: from where the earlier steps count, and the last one. */
  readonly peak: number
  readonly lastPeak: number
}

/** How far a scope has fallen by one of the figures of {@link Worth}; NaN while that is not known. */
export interface Fall {
  readonly dayLoss: number
  /** In the unit of its limits: of the account a share of the peak of the equity, else an amount. */
  readonly drawdown: number
  /** Below the peak of the last step. */
  readonly lastDrawdown: number
}

/** What the account is worth, in the margin coin. */
export interface Equity {
  /** Capital and everything that was made. */
  readonly equity: number
  /** The highest so far: since a release took a new peak where the drawdown is limited, else since the run began. */
  readonly peak: number
  /** The equity below the peak; 0 at the peak. */
  readonly drawdown: number
}

/** What the exchange said of a position when it was last read. Money in the margin coin. */
export interface PositionStatement extends Holding {
  /** NaN where it does not say it. */
  readonly unrealised: number
  readonly markPrice: number
  /**
   * Where the exchange would close each side (quote coin), the margin that each binds, and maintenance margin over what
   * stands behind it; NaN where it does not say it.
   */
  readonly liquidation: Readonly<Record<HoldSide, number>>
  readonly margin: Readonly<Record<HoldSide, number>>
  readonly marginRatio: Readonly<Record<HoldSide, number>>
  /** Unix ms, our clock, when it was asked for. */
  readonly requestedAt: number
}

/**
 * How far a net profit is to be believed. `flat`: nothing is held, so it hangs on no price · `agreed`: our own figure and
 * the exchange's agree · `disputed`: they do not · `alone`: for so long that our own one counts.
 */
export type Trust = 'flat' | 'agreed' | 'disputed' | 'alone'

/** The answers from which a net profit was worked out. */
export interface WitnessedNet {
  readonly trust: Trust
  readonly net: number
  /** By our own figure, whichever one counted. */
  readonly ours: number
  /** Unix ms: when the position was asked for, and when the exchange answered with the prices. */
  readonly positionAt: number
  readonly tickersAt: number
}

/**
 * Net profit of an instrument, or of a strategy on one, in the margin coin. What is not known is NaN. A limit is reached
 * only if even `believed` is beyond it, a flatten waits for `confirmed`, and a peak rises to `low` at most (MON1).
 */
export interface Worth {
  readonly trust: Trust
  /** By our own figure, and by the exchange's. */
  readonly ours: number
  readonly theirs: number
  /** The better one of every figure that counts now. */
  readonly believed: number
  /** The better, and the worse, of two readings of different answers; the worse only while the figures agree. */
  readonly confirmed: number
  readonly low: number
  /**
   * The middle one of three such readings by our own figure, so that no single one decides where a day or a first peak
   * begins; only where that figure may be judged.
   */
  readonly basis: number
  /** The reading that the next one of other answers is held against, and our own figure in the one before it. */
  readonly base: WitnessedNet
  readonly earlier: number
}

/** What scopes have made, as far as it was judged in this run. Changed by `engine/state/losses.ts`. */
export interface LossState {
  /** By symbol. */
  readonly statements: ReadonlyMap<string, PositionStatement>
  /** By symbol and side: a funding counter that one reading has stated and another has to confirm. */
  readonly statedCounters: ReadonlyMap<
    string,
    { readonly counter: string; readonly requestedAt: number }
  >
  /** By symbol and side: the average entry price, in ticks, that the exchange stated once for lots which no fill explains. */
  readonly statedEntries: ReadonlyMap<
    string,
    { readonly ticks: number; readonly requestedAt: number }
  >
  /** By symbol, and by strategy and symbol: net profit when reading and book last agreed on the position. */
  readonly worths: ReadonlyMap<string, Worth>
  /** By scope: the highest net profit. The book has it up to a small rise. */
  readonly peaks: ReadonlyMap<string, number>
  readonly used: ReadonlyMap<string, UsedLoss>
  /** The scopes whose drawdown is beyond its first step. */
  readonly warned: ReadonlySet<string>
  /** Those whose flatten waits for a second reading. */
  readonly awaited: ReadonlySet<string>
  /** By symbol: when its position was last asked for because of a dispute or a flatten; Unix ms, our clock. */
  readonly askedAt: ReadonlyMap<string, number>
}

/** How far two figures of one amount may lie apart, and how long it may stay open which of them is right. */
export interface FigureSettings {
  /** As a share of what the position is worth. */
  readonly toleranceRatio: number
  /** And so much in any case, in the quote coin. */
  readonly toleranceMin: number
  /** After a dispute of this length, in ms, our own figure is judged alone. */
  readonly disputeMsMax: number
  /** Judged alone, it counts only at prices this close to the index, and to their own bid and ask. */
  readonly indexBandRatio: number
}

/**
 * The mark and the last price of a contract lie some hundredths of a percent apart, and in a quick market some tenths. The
 * index of spot markets follows within some percent even in a crash.
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
  /** Unix ms, our clock, like the others. */
  readonly since: number
  readonly comparedAt: number
  /** From when it counts as lasting: a silence in which nothing was compared does not. */
  readonly countedFrom: number
  /** How many comparisons in a row have found a difference. */
  readonly comparisons: number
  /** The reading by which the figures agreed last, while another has to confirm that: Unix ms; undefined: they differ. */
  readonly agreedBy: number | undefined
  readonly isLogged: boolean
}

/** Changed by `disputes.ts`. */
export interface DisputeState {
  /** By figure and scope. */
  readonly open: ReadonlyMap<string, Dispute>
  /** The scopes that may only reduce while a dispute goes on, because the worse figure has reached a limit. */
  readonly reduced: ReadonlyMap<Scope, { readonly reason: string; readonly since: number }>
}

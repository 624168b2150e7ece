import type { Drawdown, EquityColumns, PriceColumns } from './collect/equity-series.ts'
import type { LiquidationStep, NearestDistance } from '../domain/liquidation.ts'
import type { HoldSide } from '../domain/position.ts'
import type { TradesReport } from './collect/trade-table.ts'
import type { DayReturn, Ratio } from './metrics.ts'
import type { PriceCoverage } from './run-facts.ts'

/** Instants are Unix ms, shares 0 to 1, money decimal strings in the margin coin. */
export interface BacktestReport {
  readonly format: 1
  readonly name: string
  readonly coin: string
  readonly coverage: readonly PriceCoverage[]
  /** Keyed by strategy, with defaults. Absent for a daemon, and in earlier reports. */
  readonly params?: Readonly<Record<string, unknown>>
  readonly assumptions: readonly string[]
  readonly remarks: readonly string[]
  /** Absent for a daemon, and in earlier reports. */
  readonly looks?: PriceLooks
  readonly runs: readonly RunReport[]
}

/** `run.json` holds all that the result depends on. */
export type RunRecipe = Readonly<Record<string, unknown>>

/** How often prices were read, and their maximum age in decisions. */
export interface PriceLooks {
  readonly everyMs: number
  readonly dataAgeMaxMs: number
}

export interface RunReport {
  readonly model: string
  readonly fromAt: number
  readonly toAt: number
  readonly isCut: boolean
  readonly money: RunMoney
  readonly ratios: readonly Ratio[]
  readonly series: RunSeries
  readonly prices: Readonly<Record<string, PriceColumns>>
  readonly plots?: Readonly<Record<string, Readonly<Record<string, readonly number[]>>>>
  readonly drawdowns: readonly Drawdown[]
  readonly dailyReturns: readonly DayReturn[]
  readonly monthlyReturns: readonly { readonly month: string; readonly value: number }[]
  readonly rollingSharpe: readonly DayReturn[]
  readonly profitByHour: readonly number[]
  readonly profitByWeekday: readonly number[]
  readonly buyAndHold: {
    readonly value: number
    readonly instruments: Readonly<Record<string, number>>
  }
  readonly strategies: readonly PartReport[]
  readonly instruments: readonly PartReport[]
  readonly fills: FillQuality
  readonly orders: Readonly<Record<string, number>>
  readonly denials: readonly CountedCode[]
  readonly denialsByStrategy: Readonly<Record<string, readonly CountedCode[]>>
  readonly rejections: readonly CountedCode[]
  readonly limiter: readonly LimiterUse[]
  readonly restrictions: readonly string[]
  /** Why a strategy may have done less than expected; absent in earlier reports. */
  readonly notes?: readonly string[]
  readonly openPositions: readonly string[]
  readonly liquidations: number
  readonly nearestLiquidationAt: number
  /** Absent in earlier reports. */
  readonly liquidation?: LiquidationReport
  /** Absent for a daemon, and in earlier reports. */
  readonly trades?: TradesReport
}

export interface LiquidationReport {
  readonly nearest: readonly NearestDistance[]
  readonly steps: readonly TakenStep[]
  /** Absent if it was not measured, for a daemon, and in earlier reports. */
  readonly worstMoment?: WorstMoment
}

/** Margin coin; prices are in quote coin. */
export interface WorstMoment {
  readonly at: number
  /** `risk.survives`; without that setting the distance to a liquidation. */
  readonly measure: 'worstCase' | 'distance'
  /** The used share of the equity, or the distance as a share of the mark price. */
  readonly figure: number
  readonly subject: string
  /** NaN if it is not known. */
  readonly equity: number
  readonly held: readonly WorstMomentHolding[]
  readonly notCounted: readonly string[]
  readonly curve: MoveCurve
}

/** Base coin. */
export interface WorstMomentHolding {
  readonly symbol: string
  readonly holdSide: HoldSide
  readonly size: number
  readonly entryPrice: number
  readonly price: number
  readonly resting: number
}

/** The equity after each move; null if it is not known. */
export interface MoveCurve {
  /** Shares, rising: -0.1 is a fall by a tenth. */
  readonly moves: readonly number[]
  readonly none: readonly (number | null)[]
  readonly reached: readonly (number | null)[]
  readonly liquidations: Readonly<Record<'none' | 'reached', readonly number[]>>
}

export interface TakenStep {
  readonly at: number
  readonly symbol: string
  readonly step: LiquidationStep
  readonly reason: string
}

/** final = opening + realised + unrealised - fees + funding + insurance. */
export interface RunMoney {
  readonly opening: string
  readonly realised: string
  readonly unrealised: string
  readonly fees: string
  readonly funding: string
  readonly insurance: string
  readonly final: string
}

export interface RunSeries extends EquityColumns {
  readonly startAt: number
  readonly stepMs: number
  readonly buyAndHold: readonly number[]
}

/** Margin coin. */
export interface PartReport {
  readonly name: string
  readonly orders: number
  readonly fills: number
  readonly makerShare: number
  readonly traded: number
  readonly realised: number
  readonly unrealised: number
  readonly fees: number
  readonly funding: number
  /** realised + unrealised - fees + funding */
  readonly profit: number
  readonly denied: number
  readonly rejected: number
}

/** Margin coin, positive for a cost. */
export interface FillQuality {
  readonly count: number
  /** A share of the traded value. */
  readonly makerShare: number
  /** How much worse taker fills were than the best price at the order's arrival. */
  readonly slippageBps: number
  readonly slippageCost: number
  /** How far the midpoint had moved against taker fills since the decision. */
  readonly latenessBps: number
  readonly latenessCost: number
}

export interface CountedCode {
  readonly code: string
  readonly meaning: string
  readonly count: number
}

export interface LimiterUse {
  readonly endpoint: string
  readonly made: number
  readonly limit: string
  readonly usedShare: number
  readonly windowMax: number
  readonly waitedMsP50: number
  readonly waitedMsP99: number
  readonly rateLimited: number
}

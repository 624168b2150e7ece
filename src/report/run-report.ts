import type { Drawdown } from './collect/drawdowns.ts'
import type { EquityColumns } from './collect/equity-series.ts'
import type { PriceColumns } from './collect/price-series.ts'
import type { LiquidationStep, NearestDistance } from '../domain/liquidation.ts'
import type { DayReturn, Ratio } from './metrics.ts'
import type { PriceCoverage } from './run-facts.ts'

/** Everything that report.json holds. Instants are Unix ms, shares 0 to 1, decimals of money strings in the margin coin. */
export interface BacktestReport {
  readonly format: 1
  readonly name: string
  readonly coin: string
  readonly coverage: readonly PriceCoverage[]
  /** What is assumed, and what was found that a reader should know, a sentence each. */
  readonly assumptions: readonly string[]
  readonly remarks: readonly string[]
  /** How the runs looked at prices; absent where a daemon did, and in reports of earlier releases. */
  readonly looks?: PriceLooks
  /** One a fill model. */
  readonly runs: readonly RunReport[]
}

/** How often prices were read, and how old they may be where something is decided; ms. */
export interface PriceLooks {
  readonly everyMs: number
  readonly dataAgeMaxMs: number
}

export interface RunReport {
  readonly model: string
  readonly fromAt: number
  readonly toAt: number
  /** It was ended before the prices were. */
  readonly isCut: boolean
  readonly money: RunMoney
  readonly ratios: readonly Ratio[]
  readonly series: RunSeries
  readonly prices: Readonly<Record<string, PriceColumns>>
  readonly drawdowns: readonly Drawdown[]
  readonly dailyReturns: readonly DayReturn[]
  readonly monthlyReturns: readonly { readonly month: string; readonly value: number }[]
  readonly rollingSharpe: readonly DayReturn[]
  readonly profitByHour: readonly number[]
  readonly profitByWeekday: readonly number[]
  /** Of the instruments that strategies trade: see docs/backtest.md. */
  readonly buyAndHold: {
    readonly value: number
    readonly instruments: Readonly<Record<string, number>>
  }
  readonly strategies: readonly PartReport[]
  readonly instruments: readonly PartReport[]
  readonly fills: FillQuality
  /** Orders by how they ended, or stand. */
  readonly orders: Readonly<Record<string, number>>
  readonly denials: readonly Cause[]
  readonly denialsByStrategy: Readonly<Record<string, readonly Cause[]>>
  readonly rejections: readonly Cause[]
  readonly limiter: readonly LimiterUse[]
  /** When and why trading ended before the prices did: of the account, a strategy or an instrument; a sentence each. */
  readonly restrictions: readonly string[]
  /** Why a strategy may have done less than was expected of it; absent in reports of earlier releases. */
  readonly notes?: readonly string[]
  readonly openPositions: readonly string[]
  readonly liquidations: number
  readonly nearestLiquidationAt: number
  /** Absent in reports of earlier releases. */
  readonly liquidation?: LiquidationReport
}

/** How near positions came to a liquidation, as the daemon would have seen it, and what it did about that. */
export interface LiquidationReport {
  /** The nearest distance of each instrument that was held and measured. */
  readonly nearest: readonly NearestDistance[]
  /** In the order of time. */
  readonly steps: readonly TakenStep[]
}

export interface TakenStep {
  readonly at: number
  readonly symbol: string
  readonly step: LiquidationStep
  /** Both figures, in words. */
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

/** A value a bucket. */
export interface RunSeries extends EquityColumns {
  readonly startAt: number
  readonly stepMs: number
  readonly buyAndHold: readonly number[]
}

/** What one strategy, or one instrument, came to. Money in the margin coin. */
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

/** How good the fills were. Money in the margin coin, positive is a cost. */
export interface FillQuality {
  readonly count: number
  /** Of what was traded, by value. */
  readonly makerShare: number
  /** Fills that took: how much worse than the best price that stood when the order came, and in all. */
  readonly slippageBps: number
  readonly slippageCost: number
  /** The same fills: what the middle had moved against them since the order was made. */
  readonly latenessBps: number
  readonly latenessCost: number
}

export interface Cause {
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

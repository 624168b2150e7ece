import type { ContractRules } from '../domain/contract-rules.ts'
import type { Capital } from '../domain/capital.ts'
import type { DaemonFile } from '../config/schema/daemon-schema.ts'
import type { CandleRow } from '../domain/candles.ts'
import type { ExitRules } from '../domain/exits.ts'
import type { FeedId } from '../domain/feed.ts'
import type { SignalTerms } from '../domain/signal.ts'
import type { StrategyId, InstrumentSymbol, SymbolAndInterval } from '../domain/ids.ts'
import type {
  Instrument,
  InstrumentFrame,
  MarginMode,
  PositionMode,
  ProductType,
} from '../domain/instrument.ts'
import type { FigureSettings, LossLimits } from '../domain/loss-limits.ts'
import type { LiquidationSteps, MaintenanceRules } from '../domain/liquidation.ts'
import type { SurvivalSettings } from '../domain/worst-case.ts'
import type { UniverseRule } from '../domain/universe.ts'
import type { Scope } from '../domain/trading-mode.ts'
import type { Decimal } from '../lib/decimal.ts'
import type { AccountLimits, StrategyLimits } from '../risk/risk-context.ts'
import type { DecideOn } from '../strategy/needs.ts'

export interface StrategySettings extends ShowSettings {
  readonly id: StrategyId
  readonly symbols: readonly string[]
  readonly limits: ReadonlyMap<string, StrategyLimits>
  readonly onFailure?: FailurePolicy
  /** A person decides by commands, and the strategy is never asked. */
  readonly isByHand?: true
  /** Makes `symbols` and `limits` follow the book (`state/roster.ts`). */
  readonly universe?: StrategyUniverse
  readonly exits?: ExitRules
  /** Absent: only other limits bound the strategy. */
  readonly capital?: Capital
}

export interface StrategyUniverse {
  readonly rule: UniverseRule
  /** Instruments that the strategy trades in any case. */
  readonly fixed: ReadonlySet<string>
  /** The limits of each member; sizes are not limited in lots. */
  readonly limits: Omit<StrategyLimits, 'positionMax' | 'orderSizeMax'>
}

/** For instruments that join while the daemon runs. */
export interface RosterSettings {
  readonly frame: InstrumentFrame
  /** Rules of members, if the exchange stated them for this start. */
  readonly stated?: ReadonlyMap<string, ContractRules>
  /** Instruments of the configuration, which never leave. */
  readonly fixed: ReadonlySet<string>
  /** Readings of more instruments would become too old. */
  readonly readMax: number
}

/** Absent: orders stay while the strategy is paused, and are cancelled when it is halted. */
export type FailurePolicy = 'leave' | 'cancel' | 'flatten'

export interface ShowSettings {
  /** Keyed by the strategy's own name for the feed. */
  readonly feeds: ReadonlyMap<string, FeedId>
  /** Keyed by interval in ms: the number of closed candles of each instrument. */
  readonly candles?: ReadonlyMap<number, number>
  /** Absent: at each snapshot. */
  readonly decides?: readonly DecideOn[]
  /** From files, the oldest first. */
  readonly history?: ReadonlyMap<SymbolAndInterval, readonly CandleRow[]>
}

/** @returns undefined where the recording has no such candle */
export type RecordedCandle = (
  symbol: string,
  intervalMs: number,
  openAt: number,
) => CandleRow | undefined

/** Durations in ms. */
export interface EngineSettings {
  /** Drawn once for each state directory, and part of every clientOid. */
  readonly salt: string
  readonly version: string
  readonly environment: string
  readonly configHash: string
  readonly productType: ProductType
  readonly positionMode: PositionMode
  readonly marginMode: MarginMode
  readonly instruments: ReadonlyMap<string, Instrument>
  readonly strategies: ReadonlyMap<StrategyId, StrategySettings>
  /** Makes `instruments` follow the book (`state/roster.ts`). */
  readonly roster?: RosterSettings
  readonly signals?: ReadonlyMap<FeedId, SignalTerms>
  /** When the journal began, margin coin. */
  readonly capital?: Decimal
  /** Keyed by coin in capitals: its price in the margin coin, where the tickers lack it. */
  readonly feeCoins?: ReadonlyMap<string, string>
  /** Minutes after midnight UTC. */
  readonly fundingMinutes?: readonly number[]
  readonly limits: AccountLimits
  /** Exits at the exchange may be listed, and so moved. */
  readonly listsExits?: boolean
  /** In a backtest a recording may know more of a closed candle than the looks at the prices. */
  readonly recordedCandle?: RecordedCandle
  /** No other run reads the journal of a backtest, so its records have no strategy states. */
  readonly forgetsStates?: boolean
  readonly figures?: FigureSettings
  readonly losses?: LossSettings
  readonly liquidation?: LiquidationSettings
  readonly survives?: SurvivalSettings
  /** The exchange is the simulator inside the daemon, which has no page to change a setting on. */
  readonly isEmbedded?: boolean
  /** One call may cancel every order of the product type. */
  readonly isExclusive: boolean
  readonly execution: ExecutionSettings
  readonly foreignFills: 'halt' | 'adopt'
  readonly onRestart: 'cancel' | 'adopt'
  /** The last run may have cancelled without a record, and its last cancel-all may still arrive. */
  readonly hasRetreated?: boolean
}

export interface LiquidationSettings {
  /** Absent: distances are only shown. */
  readonly steps?: LiquidationSteps
  /** Without rules we have no count of our own, and steps only warn. */
  readonly rules: ReadonlyMap<InstrumentSymbol, MaintenanceRules>
}

export interface LossSettings {
  readonly timeZone: string
  /** After a drawdown limit the scope cannot be released for so long. */
  readonly coolDownMs: number
  readonly limits: ReadonlyMap<Scope, LossLimits>
}

/** The assumptions of docs/orders.md (A1 to A6), and how long the planner waits. */
export interface ExecutionSettings extends Readonly<DaemonFile['execution']> {
  /** After this an accepted ioc, fok or market order is matched or has ended (A4). */
  readonly matchingLagMs: number
  /** A market that is beyond a resting order for so long proves that the order is gone. */
  readonly crossedToleranceMs: number
  /** A stop waits so long for calls in flight. */
  readonly stopTimeoutMs: number
}

export function listTraded({
  strategies,
  instruments,
}: Pick<EngineSettings, 'strategies' | 'instruments'>): ReadonlySet<string> {
  return new Set(
    [...strategies.values()].flatMap(({ symbols, universe }) =>
      universe ? [...instruments.keys()] : symbols,
    ),
  )
}

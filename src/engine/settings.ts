import type { ContractRules } from '../domain/contract-rules.ts'
import type { Capital } from '../domain/capital.ts'
import type { DaemonFile } from '../config/schema/daemon-schema.ts'
import type { CandleRow } from '../domain/candles.ts'
import type { ExitRules } from '../domain/exits.ts'
import type { FeedId } from '../domain/feed.ts'
import type { SignalTerms } from '../domain/signal.ts'
import type { StrategyId } from '../domain/ids.ts'
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

/** As the engine knows a strategy: what it may trade, is shown, and when. */
export interface StrategySettings extends ShowSettings {
  readonly id: StrategyId
  readonly symbols: readonly string[]
  readonly limits: ReadonlyMap<string, StrategyLimits>
  readonly onFailure?: FailurePolicy
  /** A person decides, by commands: it is never asked. */
  readonly isByHand?: true
  /** Then `symbols` and `limits` follow the book, changed by `state/roster.ts`. */
  readonly universe?: StrategyUniverse
  /** Absent: nothing closes positions without its decision. */
  readonly exits?: ExitRules
  /** Absent: all of the account, within its other limits. */
  readonly capital?: Capital
}

export interface StrategyUniverse {
  readonly rule: UniverseRule
  /** Those that the strategy trades in any case. */
  readonly fixed: ReadonlySet<string>
  /** For each member; sizes are not limited in lots. */
  readonly limits: Omit<StrategyLimits, 'positionMax' | 'orderSizeMax'>
}

/** For instruments that join while the daemon runs. */
export interface RosterSettings {
  readonly frame: InstrumentFrame
  /** Rules of members, as the exchange stated them for this start. Absent: it did not. */
  readonly stated?: ReadonlyMap<string, ContractRules>
  /** Those of the configuration: they never leave. */
  readonly fixed: ReadonlySet<string>
  /** More would make readings too old. */
  readonly readMax: number
}

/** Absent: orders stay while the strategy is paused, and are cancelled when it is halted. */
export type FailurePolicy = 'leave' | 'cancel' | 'flatten'

export interface ShowSettings {
  /** Keyed by the strategy's own name. */
  readonly feeds: ReadonlyMap<string, FeedId>
  /** Closed candles of each instrument, by interval in ms. */
  readonly candles?: ReadonlyMap<number, number>
  /** Absent: at each snapshot. */
  readonly decides?: readonly DecideOn[]
  /** From files: by symbol and interval (`candleKey`), the oldest first. */
  readonly history?: ReadonlyMap<string, readonly CandleRow[]>
}

/** Undefined where the recording has none. Interval in ms, opening in Unix ms. */
export type RecordedCandle = (
  symbol: string,
  intervalMs: number,
  openAt: number,
) => CandleRow | undefined

/** Durations in ms. */
export interface EngineSettings {
  /** Drawn once for each state directory; part of every clientOid. */
  readonly salt: string
  readonly version: string
  readonly environment: string
  readonly configHash: string
  readonly productType: ProductType
  readonly positionMode: PositionMode
  readonly marginMode: MarginMode
  readonly instruments: ReadonlyMap<string, Instrument>
  readonly strategies: ReadonlyMap<StrategyId, StrategySettings>
  /** Then `instruments` follows the book, changed by `state/roster.ts`. */
  readonly roster?: RosterSettings
  /** Absent: none is taken. */
  readonly signals?: ReadonlyMap<FeedId, SignalTerms>
  /** At the beginning, margin coin. Absent: not configured. */
  readonly capital?: Decimal
  /** Keyed by coin in capitals: worth in the margin coin, where the tickers lack it. */
  readonly feeCoins?: ReadonlyMap<string, string>
  /** Minutes after midnight UTC. */
  readonly fundingMinutes?: readonly number[]
  readonly limits: AccountLimits
  /** Exits at the exchange may be listed, and so moved. */
  readonly listsExits?: boolean
  /** In a backtest, if a recording knows more of a closed candle than the looks at the prices. */
  readonly recordedCandle?: RecordedCandle
  /** In a backtest: no other run reads its journal, so records have no strategy states. */
  readonly forgetsStates?: boolean
  /** Absent: the defaults. */
  readonly figures?: FigureSettings
  /** Absent: no loss is limited. */
  readonly losses?: LossSettings
  readonly liquidation?: LiquidationSettings
  /** Absent: no move must be survived. */
  readonly survives?: SurvivalSettings
  /** The exchange is the simulator inside the daemon, which has no page to change a setting on. */
  readonly isEmbedded?: boolean
  /** One call may cancel every order of the product type. */
  readonly isExclusive: boolean
  readonly execution: ExecutionSettings
  /**
   * Whether a fill that is not ours (a liquidation, a delivery, a person's trade) halts its
   * instrument, or is adopted.
   */
  readonly foreignFills: 'halt' | 'adopt'
  /** For orders that rest at a start. */
  readonly onRestart: 'cancel' | 'adopt'
  /** The last run may have cancelled without a record, and its last cancel-all may still arrive. */
  readonly hasRetreated?: boolean
}

export interface LiquidationSettings {
  /** Absent: distances are only shown. */
  readonly steps?: LiquidationSteps
  /**
   * Keyed by symbol: what positions need. Without it we have no count of our own, and steps only
   * warn.
   */
  readonly rules: ReadonlyMap<string, MaintenanceRules>
}

export interface LossSettings {
  readonly timeZone: string
  /** After a drawdown limit the scope cannot be released for so long. */
  readonly coolDownMs: number
  /** Scopes with a limit: `*`, symbols, strategies. */
  readonly limits: ReadonlyMap<Scope, LossLimits>
}

/** The assumptions of docs/orders.md (A1 to A6), and the planner's patience. */
export interface ExecutionSettings extends Readonly<DaemonFile['execution']> {
  /** After this an accepted ioc, fok or market order is matched or dead (A4). */
  readonly matchingLagMs: number
  /** So long beyond a resting order, the market proves it gone. */
  readonly crossedToleranceMs: number
  /** How long a stop waits for calls in flight. */
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

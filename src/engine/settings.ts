import type { DaemonFile } from '../config/schema/daemon-schema.ts'
import type { CandleRow } from '../domain/candles.ts'
import type { ExitRules } from '../domain/exits.ts'
import type { FeedId } from '../domain/feed.ts'
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

/** One strategy as the engine knows it: its name, what it may trade and how much, what it is shown, and when. */
export interface StrategySettings extends ShowSettings {
  readonly id: StrategyId
  readonly symbols: readonly string[]
  /** By symbol. */
  readonly limits: ReadonlyMap<string, StrategyLimits>
  readonly onFailure?: FailurePolicy
  /** A rule chooses further instruments: then `symbols` and `limits` follow the book, changed by `state/roster.ts`. */
  readonly universe?: StrategyUniverse
  /** Its exits close positions without its decision. Absent: nothing does. */
  readonly exits?: ExitRules
}

export interface StrategyUniverse {
  readonly rule: UniverseRule
  /** Those that the strategy trades in any case. */
  readonly fixed: ReadonlySet<string>
  /** Of each member; sizes are not limited in lots. */
  readonly limits: Omit<StrategyLimits, 'positionMax' | 'orderSizeMax'>
}

/** What instruments that join while the daemon runs have in common. */
export interface RosterSettings {
  readonly frame: InstrumentFrame
  /** Those of the configuration: they never leave. */
  readonly fixed: ReadonlySet<string>
  /** So many can be read before readings would be too old. */
  readonly readMax: number
}

/** What happens to a strategy's orders when its decisions fail. Absent: they stay while it is paused, and are cancelled when it is halted. */
export type FailurePolicy = 'leave' | 'cancel' | 'flatten'

export interface ShowSettings {
  /** What it asked to be shown beside the market: by its own name for it. */
  readonly feeds: ReadonlyMap<string, FeedId>
  /** How many closed candles it needs of each of its instruments, by interval in ms. Absent: none. */
  readonly candles?: ReadonlyMap<number, number>
  /** When it is asked. Absent: at each snapshot. */
  readonly decides?: readonly DecideOn[]
  /** Candles of before, from files: by symbol and interval (`candleKey`), the oldest first. */
  readonly history?: ReadonlyMap<string, readonly CandleRow[]>
}

/** `snapshot`: at each snapshot and each of its own fills · `candle`: when a candle that it needs closes · `fill`: at each of its own fills. */
export type DecideOn = 'snapshot' | 'candle' | 'fill'

/**
 * The closed candle of an instrument, an interval (ms) and an instant at which it opens (Unix ms); undefined where the
 * recording has none.
 */
export type RecordedCandle = (
  symbol: string,
  intervalMs: number,
  openAt: number,
) => CandleRow | undefined

/** Everything the core is told once. Durations in ms. */
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
  /** Where rules choose instruments: then `instruments` follows the book, changed by `state/roster.ts`. */
  readonly roster?: RosterSettings
  /** What the account began with, in its margin coin. Absent: not configured. */
  readonly capital?: Decimal
  /** By coin in capitals: what one is worth in the margin coin, where the tickers do not have it. Absent: none is known. */
  readonly feeCoins?: ReadonlyMap<string, string>
  /** Minutes after midnight UTC at which funding is paid. Absent: not known. */
  readonly fundingMinutes?: readonly number[]
  readonly limits: AccountLimits
  /**
   * In a backtest, where a recording knows more of a candle than the looks at the prices have seen: asked for candles
   * that have closed, and for no other. Absent: candles are made of the tickers alone.
   */
  readonly recordedCandle?: RecordedCandle
  /** Absent: the defaults. */
  readonly figures?: FigureSettings
  /** Absent: no loss is limited. */
  readonly losses?: LossSettings
  /** Absent: no distance to a liquidation is measured. */
  readonly liquidation?: LiquidationSettings
  /** Absent: no move of the market must be survived. */
  readonly survives?: SurvivalSettings
  /** Whether every order of the product type is ours: then one call may cancel them all. */
  readonly isExclusive: boolean
  readonly execution: ExecutionSettings
  /** After a fill that is not ours (a liquidation, a delivery, a person's trade): halt the instrument, or adopt the position and go on. */
  readonly foreignFills: 'halt' | 'adopt'
  /** What a new run does with orders that rest: cancel them, or keep them. */
  readonly onRestart: 'cancel' | 'adopt'
  /** The run before this one left the retreat note: it may have cancelled without a record, and its last cancel-all may still arrive. */
  readonly hasRetreated?: boolean
}

export interface LiquidationSettings {
  /** Absent: distances are shown, and nothing follows from them. */
  readonly steps?: LiquidationSteps
  /** By symbol: what its positions need. Where it is absent there is no count of our own, and the steps only warn. */
  readonly rules: ReadonlyMap<string, MaintenanceRules>
}

export interface LossSettings {
  /** The time zone in which a day begins. */
  readonly timeZone: string
  /** For so long after a drawdown limit was reached, the scope cannot be released. */
  readonly coolDownMs: number
  /** Of the scopes that have a limit: `*`, symbols, strategies. */
  readonly limits: ReadonlyMap<Scope, LossLimits>
}

/** The assumptions about the exchange that docs/orders.md names (A1 to A6), and the planner's patience. */
export interface ExecutionSettings extends Readonly<DaemonFile['execution']> {
  /** An accepted ioc, fok or market order is matched or dead this long after (A4). */
  readonly matchingLagMs: number
  /** How long the market may stand beyond the price of a resting order before that order is taken for gone. */
  readonly crossedToleranceMs: number
  /** How long a stop waits for calls in flight before it gives up and logs that. */
  readonly stopTimeoutMs: number
}

/** Every instrument that a strategy may trade. */
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

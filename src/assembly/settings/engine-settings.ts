import type { DaemonConfig, StrategyConfig } from '../../config/load-config.ts'
import { calendarFundingMinutes } from '../../config/funding-minutes.ts'
import type { Size } from '../../config/schema/decimal-text.ts'
import { parseCapital } from '../../domain/capital.ts'
import { MANUAL } from '../../domain/hand-order.ts'
import { toStrategyId, type StrategyId } from '../../domain/ids.ts'
import { feedOfSignal, SENDER_AHEAD_MS_MAX } from '../../domain/signal.ts'
import { buildInstrument, type Instrument, lotsMax } from '../../domain/instrument.ts'
import type {
  EngineSettings,
  ShowSettings,
  StrategySettings,
  LiquidationSettings,
} from '../../engine/settings.ts'
import { accountAgeMaxOf, instrumentsMax } from './read-pace.ts'
import { toRosterSettings, toUniverseRule } from './universe-rules.ts'
import type { StrategyLimits } from '../../risk/risk-context.ts'
import { toExitRules } from './exit-rules.ts'
import { toLossSettings } from './loss-settings.ts'
import { decimal } from '../../lib/decimal.ts'
import { sha256 } from '../../lib/digest.ts'
import { createGrid, stepBelow } from '../../lib/grid.ts'
import type { MaintenanceRules, MaintenanceTier } from '../../domain/liquidation.ts'
import type { SurvivalSettings } from '../../domain/worst-case.ts'
import { TAKER_FEE_RATE } from '../../config/schema/liquidation-schema.ts'
import { contractsOf, listInstruments } from '../instruments/listed-instruments.ts'

/** Then an accepted taking order is matched or dead (docs/orders.md, A4). */
const MATCHING_LAG_MS = 2000
/** The embedded simulator matches before it answers. */
const MATCHING_LAG_EMBEDDED_MS = 0
/** Allowed beyond the visibility of fills. */
const CROSSED_TOLERANCE_MS = 5000
/**
 * Beyond an unknown order's acceptance deadline: two cancel-alls, a flatten, and the reads that
 * prove them.
 */
const STOP_TIMEOUT_MS = 30_000
/** Two cancel-alls for each instrument, one a second. */
const STOP_TIMEOUT_PER_INSTRUMENT_MS = 2000

export interface RunSettings {
  readonly salt: string
  readonly version: string
  readonly embedded: boolean
  readonly capital?: string
  /** At the address; default 1. */
  readonly accounts?: number
  readonly accountAgeMaxMs?: number
  readonly shown: ReadonlyMap<StrategyId, ShowSettings>
}

/** Supervisors must wait longer. */
export function stopTimeoutOf(config: DaemonConfig): number {
  const perInstrument = instrumentsMax(config, { accounts: 1 }) * STOP_TIMEOUT_PER_INSTRUMENT_MS
  return STOP_TIMEOUT_MS + perInstrument + config.execution.acceptanceWindowMs
}

export function toEngineSettings(config: DaemonConfig, run: RunSettings): EngineSettings {
  const instruments = toInstruments(config)
  const { execution, account } = config
  const { foreignFills, losses: _losses, instruments: _instruments, pace, ...rest } = config.risk
  const {
    liquidation: _liquidation,
    survives: _survives,
    leverageMax,
    selfTrade,
    unknownOrdersMax,
    accountAgeMaxMs: _age,
    ...others
  } = rest
  const { disputeToleranceRatio, disputeToleranceMin, disputeMsMax, indexBandRatio, ...limits } =
    others
  const { accounts = 1, accountAgeMaxMs = accountAgeMaxOf(config, { accounts }) } = run
  const losses = toLossSettings(config)
  const survives = toSurvivalSettings(config)
  const capital = run.capital ?? account.capital ?? config.simulator?.startingBalance
  return {
    salt: run.salt,
    version: run.version,
    environment: config.environment,
    configHash: hashOf(config),
    productType: account.productType,
    positionMode: account.positionMode,
    marginMode: account.marginMode,
    instruments,
    strategies: new Map([
      ...config.strategies
        .filter((strategy) => strategy.enabled)
        .map((strategy) => toStrategy(strategy, instruments, run)),
      ...toManual(config, instruments),
    ]),
    roster: toRosterSettings(config, { accounts }),
    ...(config.signals && { signals: toSignalTerms(config.signals) }),
    ...(capital !== undefined && { capital: decimal(capital) }),
    feeCoins: new Map(Object.entries(account.feeCoins)),
    fundingMinutes: calendarFundingMinutes(config.calendar),
    limits: {
      ...convertEach(limits, Number),
      accountAgeMaxMs,
      ...(leverageMax !== undefined && { leverageMax }),
      ...(selfTrade === 'deny' && { selfTrade }),
      ...(unknownOrdersMax !== undefined && { unknownOrdersMax }),
      ...withoutAbsent(pace),
    },
    figures: {
      toleranceRatio: disputeToleranceRatio,
      toleranceMin: Number(disputeToleranceMin),
      disputeMsMax,
      indexBandRatio,
    },
    ...(losses && { losses }),
    liquidation: toLiquidationSettings(config),
    ...(survives && { survives }),
    ...(config.exchange.beyondDocumentPrivate && { listsExits: true }),
    ...(run.embedded && { isEmbedded: true }),
    isExclusive: account.exclusive,
    execution: {
      ...execution,
      matchingLagMs: run.embedded ? MATCHING_LAG_EMBEDDED_MS : MATCHING_LAG_MS,
      crossedToleranceMs: CROSSED_TOLERANCE_MS + execution.fillVisibilityMs,
      stopTimeoutMs: stopTimeoutOf(config),
    },
    foreignFills,
    onRestart: config.onRestart,
  }
}

function hashOf(config: DaemonConfig): string {
  return sha256([JSON.stringify(config)])
    .toString('hex')
    .slice(0, 16)
}

export function toInstruments({
  account,
  instruments,
}: Pick<DaemonConfig, 'account' | 'instruments'>): ReadonlyMap<string, Instrument> {
  return new Map(
    Object.entries(instruments).map(([symbol, settings]) => {
      const { productType, marginCoin } = account
      const { leverage = account.leverage, ...rules } = settings
      return [
        symbol,
        buildInstrument(symbol, rules, {
          productType,
          marginCoin,
          ...(leverage !== undefined && { leverage }),
        }),
      ]
    }),
  )
}

/** A time ahead of ours stays inside the window longer. */
function toSignalTerms({ accept }: NonNullable<DaemonConfig['signals']>) {
  return new Map(
    Object.entries(accept).map(([name, { maxAgeMs, windowMs, timeField }]) => {
      const idsKeptMs = timeField === undefined ? windowMs : windowMs + SENDER_AHEAD_MS_MAX
      return [feedOfSignal(name), { maxAgeMs, idsKeptMs }] as const
    }),
  )
}

function toStrategy(
  strategy: StrategyConfig,
  instruments: ReadonlyMap<string, Instrument>,
  { shown }: RunSettings,
): [StrategyId, StrategySettings] {
  const id = toStrategyId(strategy.id)
  const { losses: _losses, pace, positionNotionalMax, orderNotionalMax, ...risk } = strategy.risk
  const { openOrdersMax, ...sizes } = risk
  const common = {
    openOrdersMax,
    ...(positionNotionalMax !== undefined && { positionNotionalMax: Number(positionNotionalMax) }),
    ...(orderNotionalMax !== undefined && { orderNotionalMax: Number(orderNotionalMax) }),
    ...withoutAbsent(pace),
  }
  const limits = strategy.instruments.map((symbol) => {
    const instrument = instruments.get(symbol)
    const lot = instrument?.lot ?? createGrid('1')
    const most = instrument ? lotsMax(instrument) : 0
    const toLots = (size: Size | undefined): number =>
      size === undefined ? most : stepBelow(lot, Number(size))
    const own: StrategyLimits = {
      ...common,
      positionMax: toLots(sizes.positionMax),
      orderSizeMax: toLots(sizes.orderSizeMax),
    }
    return [symbol, own] as const
  })
  const { instruments: symbols, universe, onFailure, exits } = strategy
  const capital = strategy.capital === undefined ? undefined : parseCapital(strategy.capital)
  const policy = onFailure === undefined ? {} : { onFailure }
  const fixed = new Set(symbols)
  return [
    id,
    {
      id,
      symbols,
      limits: new Map(limits),
      ...policy,
      ...(universe && { universe: { rule: toUniverseRule(universe), fixed, limits: common } }),
      ...(exits && { exits: toExitRules(exits) }),
      ...(capital && { capital }),
      ...(shown.get(id) ?? { feeds: new Map() }),
    },
  ]
}

/** Trades by hand, on each instrument of the main file: only worth limits sizes. */
function toManual(
  { manual }: DaemonConfig,
  instruments: ReadonlyMap<string, Instrument>,
): readonly (readonly [StrategyId, StrategySettings])[] {
  if (manual === undefined) return []
  const { orderNotionalMax, positionNotionalMax, openOrdersMax, pace } = manual
  const limits = [...instruments.values()].map((instrument) => {
    const own: StrategyLimits = {
      openOrdersMax,
      orderNotionalMax: Number(orderNotionalMax),
      positionNotionalMax: Number(positionNotionalMax),
      positionMax: lotsMax(instrument),
      orderSizeMax: lotsMax(instrument),
      ...withoutAbsent(pace),
    }
    return [instrument.symbol, own] as const
  })
  const symbols = [...instruments.keys()]
  const feeds = new Map()
  return [[MANUAL, { id: MANUAL, symbols, limits: new Map(limits), feeds, isByHand: true }]]
}

function withoutAbsent<Name extends string>(limits: {
  readonly [name in Name]?: number | undefined
}): { readonly [name in Name]?: number } {
  const set = Object.entries(limits).filter(([, limit]) => limit !== undefined)
  return Object.fromEntries(set) as { readonly [name in Name]?: number }
}

function convertEach<Name extends string, Limit>(
  limits: Readonly<Record<Name, Limit>>,
  convert: (limit: Limit) => number,
): Record<Name, number> {
  const entries = Object.entries<Limit>(limits).map(([name, limit]) => [name, convert(limit)])
  return Object.fromEntries(entries) as Record<Name, number>
}

/** Configured rules precede the simulator's. */
export function toLiquidationSettings(config: DaemonConfig): LiquidationSettings {
  const { liquidation } = config.risk
  const rules = new Map([...simulatedRules(config), ...configuredRules(config)])
  if (liquidation === 'none') return { rules }
  const { warn, reduce, flatten } = liquidation
  return { steps: { warn, reduce, flatten }, rules }
}

export function toSurvivalSettings({
  risk,
  instruments,
}: DaemonConfig): SurvivalSettings | undefined {
  if (risk.survives === undefined) return undefined
  const { move, joint, gap } = risk.survives
  const moves = new Map(
    Object.keys(instruments).map((symbol) => [
      symbol,
      typeof move === 'number' ? move : (move[symbol] ?? Number.NaN),
    ]),
  )
  const jointMoves =
    joint === undefined ? moves : new Map([...moves.keys()].map((symbol) => [symbol, joint]))
  return { moves, jointMoves, isGap: gap }
}

function configuredRules(config: DaemonConfig): readonly (readonly [string, MaintenanceRules])[] {
  const takerFeeRate = takerFeeRateOf(config)
  return Object.entries(config.instruments).flatMap(([symbol, { maintenance }]) => {
    if (maintenance === undefined) return []
    const tiers = maintenance.map(({ upTo, rate }): MaintenanceTier => ({
      notionalMax: Number(upTo ?? Number.POSITIVE_INFINITY),
      rate,
    }))
    return [[symbol, { tiers, takerFeeRate }] as const]
  })
}

/** Tiers do not depend on the instant. */
function simulatedRules(config: DaemonConfig): readonly (readonly [string, MaintenanceRules])[] {
  if (config.simulator === undefined) return []
  const takerFeeRate = takerFeeRateOf(config)
  return listInstruments(contractsOf(config), 0)
    .filter(({ symbol }) => config.instruments[symbol] !== undefined)
    .map(({ symbol, maintenanceTiers }) => {
      const tiers = maintenanceTiers.map(({ notionalMax, rateFloat }) => ({
        notionalMax,
        rate: rateFloat,
      }))
      return [symbol, { tiers, takerFeeRate }] as const
    })
}

function takerFeeRateOf({ simulator, risk: { liquidation } }: DaemonConfig): number {
  if (simulator !== undefined) return Number(simulator.takerFeeRate)
  return Number(liquidation === 'none' ? TAKER_FEE_RATE : liquidation.takerFeeRate)
}

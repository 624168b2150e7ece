import { calendarFundingMinutes } from '../../config/funding-minutes.ts'
import type { DaemonConfig, StrategyConfig } from '../../config/load-config.ts'
import { COOL_DOWN_MS, TAKER_FEE_RATE } from '../../config/schema/risk-schema.ts'
import type { Size } from '../../config/schema/setting-values.ts'
import {
  durationMs,
  type ExitSettings,
  stopAtExchangeShare,
  type UniverseSection,
} from '../../config/schema/strategy-schema.ts'
import { parseInterval } from '../../domain/candles.ts'
import { parseCapital } from '../../domain/capital.ts'
import type { ExitDistance, ExitProtections, ExitRules } from '../../domain/exits.ts'
import { MANUAL } from '../../domain/hand-order.ts'
import { type StrategyId, toStrategyId } from '../../domain/ids.ts'
import { buildInstrument, type Instrument, lotsMax } from '../../domain/instrument.ts'
import type { MaintenanceRules, MaintenanceTier } from '../../domain/liquidation.ts'
import { DRAWDOWN_STEPS, type LossLimits } from '../../domain/loss-limits.ts'
import { feedOfSignal, SENDER_AHEAD_MS_MAX } from '../../domain/signal.ts'
import { ACCOUNT, type Scope, strategyScope } from '../../domain/trading-mode.ts'
import type { UniverseRule } from '../../domain/universe.ts'
import type { SurvivalSettings } from '../../domain/worst-case.ts'
import type {
  EngineSettings,
  LiquidationSettings,
  LossSettings,
  RosterSettings,
  ShowSettings,
  StrategySettings,
} from '../../engine/settings.ts'
import { decimal } from '../../lib/decimal.ts'
import { sha256Hex } from '../../lib/digest.ts'
import { createGrid, stepBelow } from '../../lib/grid.ts'
import type { OptionalLimit, StrategyLimits } from '../../risk/risk-context.ts'
import { contractsOf, listInstruments } from '../instruments/listed-instruments.ts'
import { accountAgeMaxOf, type AddressUse, instrumentsMax, readableMax } from './read-pace.ts'

/** After this time an accepted order that takes is matched or dead (docs/orders.md, A4). */
const MATCHING_LAG_MS = 2000
/** The embedded simulator matches before it answers. */
const MATCHING_LAG_EMBEDDED_MS = 0
/** Fills may become visible so much later than configured. */
const CROSSED_TOLERANCE_MS = 5000
/**
 * After the acceptance deadline of an unknown order a stop needs two cancel-alls, a flatten, and the
 * reads that prove them.
 */
const STOP_TIMEOUT_MS = 30_000
/** Each instrument needs two cancel-alls, one a second. */
const STOP_TIMEOUT_PER_INSTRUMENT_MS = 2000

interface RunSettings {
  readonly salt: string
  readonly version: string
  readonly embedded: boolean
  readonly capital?: string
  /** So many accounts share the address; default 1. */
  readonly accounts?: number
  readonly accountAgeMaxMs?: number
  readonly shown: ReadonlyMap<StrategyId, ShowSettings>
}

/** A supervisor must wait longer before it kills the process. */
export function stopTimeoutOf(config: DaemonConfig): number {
  const perInstrument = instrumentsMax(config, { accounts: 1 }) * STOP_TIMEOUT_PER_INSTRUMENT_MS
  return STOP_TIMEOUT_MS + perInstrument + config.execution.acceptanceWindowMs
}

export function toEngineSettings(config: DaemonConfig, run: RunSettings): EngineSettings {
  const instruments = toInstruments(config)
  const { execution, account, risk } = config
  const { accounts = 1, accountAgeMaxMs = accountAgeMaxOf(config, { accounts }) } = run
  const losses = toLossSettings(config)
  const survives = toSurvivalSettings(config)
  const capital = run.capital ?? account.capital ?? config.simulator?.startingBalance
  return {
    salt: run.salt,
    version: run.version,
    environment: config.environment,
    configHash: sha256Hex([JSON.stringify(config)]).slice(0, 16),
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
      dataAgeMaxMs: risk.dataAgeMaxMs,
      priceCollarRatio: risk.priceCollarRatio,
      openOrdersMax: risk.openOrdersMax,
      orderNotionalMax: Number(risk.orderNotionalMax),
      grossNotionalMax: Number(risk.grossNotionalMax),
      accountAgeMaxMs,
      ...(risk.selfTrade === 'deny' && { selfTrade: risk.selfTrade }),
      ...withoutAbsent(optionalLimitsOf(config)),
      ...withoutAbsent(risk.pace),
    },
    figures: {
      toleranceRatio: risk.disputeToleranceRatio,
      toleranceMin: Number(risk.disputeToleranceMin),
      disputeMsMax: risk.disputeMsMax,
      indexBandRatio: risk.indexBandRatio,
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
    foreignFills: risk.foreignFills,
    onRestart: config.onRestart,
  }
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

/** A signal whose time is ahead of ours stays in the window longer, so that is added. */
function toSignalTerms({ accept }: NonNullable<DaemonConfig['signals']>) {
  return new Map(
    Object.entries(accept).map(([name, { maxAgeMs, windowMs, timeField }]) => {
      const idsKeptMs = timeField === undefined ? windowMs : windowMs + SENDER_AHEAD_MS_MAX
      return [feedOfSignal(name), { maxAgeMs, idsKeptMs }] as const
    }),
  )
}

/** Keys of a strategy file that the core does not see. */
type OutsideCore =
  | 'file'
  | 'moduleFile'
  | 'module'
  | 'enabled'
  | 'params'
  | 'feeds'
  | 'signals'
  | 'history'
  | 'isolation'
  | 'thread'

/** Does not compile if a key is neither handed to the core nor one of `Known`. */
type Forgotten<Rest, Known = never> = Readonly<Record<Exclude<keyof Rest, Known>, never>>

function toStrategy(
  strategy: StrategyConfig,
  instruments: ReadonlyMap<string, Instrument>,
  { shown }: RunSettings,
): [StrategyId, StrategySettings] {
  const { id: name, instruments: symbols, universe, onFailure, exits, risk, ...others } = strategy
  const { capital: capitalText, ...outsideCore } = others
  outsideCore satisfies Forgotten<typeof outsideCore, OutsideCore>
  const id = toStrategyId(name)
  const { losses: _losses, pace, positionNotionalMax, orderNotionalMax, ...rest } = risk
  const { openOrdersMax, positionMax, orderSizeMax, ...noOther } = rest
  noOther satisfies Forgotten<typeof noOther>
  const common = {
    openOrdersMax,
    ...(positionNotionalMax !== undefined && { positionNotionalMax: Number(positionNotionalMax) }),
    ...(orderNotionalMax !== undefined && { orderNotionalMax: Number(orderNotionalMax) }),
    ...withoutAbsent(pace),
  }
  const limits = symbols.map((symbol) => {
    const instrument = instruments.get(symbol)
    const lot = instrument?.lot ?? createGrid('1')
    const most = instrument ? lotsMax(instrument) : 0
    const toLots = (size: Size | undefined): number =>
      size === undefined ? most : stepBelow(lot, Number(size))
    const own: StrategyLimits = {
      ...common,
      positionMax: toLots(positionMax),
      orderSizeMax: toLots(orderSizeMax),
    }
    return [symbol, own] as const
  })
  const capital = capitalText === undefined ? undefined : parseCapital(capitalText)
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

/** Trades by hand may use each instrument of the main file, and are limited only by their worth. */
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

/** Does not compile if a limit is not handed to the core. */
function optionalLimitsOf({
  risk,
}: DaemonConfig): Readonly<Record<OptionalLimit, number | undefined>> {
  return { leverageMax: risk.leverageMax, unknownOrdersMax: risk.unknownOrdersMax }
}

function withoutAbsent<Name extends string>(limits: {
  readonly [name in Name]?: number | undefined
}): { readonly [name in Name]?: number } {
  const set = Object.entries(limits).filter(([, limit]) => limit !== undefined)
  return Object.fromEntries(set) as { readonly [name in Name]?: number }
}

export function toLiquidationSettings(config: DaemonConfig): LiquidationSettings {
  const { liquidation } = config.risk
  const takerFeeRate = Number(
    config.simulator?.takerFeeRate ??
      (liquidation === 'none' ? TAKER_FEE_RATE : liquidation.takerFeeRate),
  )
  const rules = new Map([
    ...simulatedRules(config, takerFeeRate),
    ...configuredRules(config, takerFeeRate),
  ])
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

function configuredRules(
  config: DaemonConfig,
  takerFeeRate: number,
): readonly (readonly [string, MaintenanceRules])[] {
  return Object.entries(config.instruments).flatMap(([symbol, { maintenance }]) => {
    if (maintenance === undefined) return []
    const tiers = maintenance.map(({ upTo, rate }): MaintenanceTier => ({
      notionalMax: Number(upTo ?? Number.POSITIVE_INFINITY),
      rate,
    }))
    return [[symbol, { tiers, takerFeeRate }] as const]
  })
}

/** At instant 0, because the tiers are the same at every instant. */
function simulatedRules(
  config: DaemonConfig,
  takerFeeRate: number,
): readonly (readonly [string, MaintenanceRules])[] {
  if (config.simulator === undefined) return []
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

export function toExitRules(exits: ExitSettings): ExitRules {
  const { stop, trailing, breakEven, profit, timeLimit, takeProfit, coolDown, protections } = exits
  const rows = Object.entries(profit ?? {})
    .map(([from, least]) => ({ fromMs: durationMs(from), least: millionths(least) }))
    .toSorted((one, other) => one.fromMs - other.fromMs)
  return {
    ...(stop && { stop: toDistance(stop) }),
    ...(stop?.atExchange === true &&
      stop.distance !== undefined && {
        stopAtExchange: millionths(stopAtExchangeShare(stop.distance)),
      }),
    ...(trailing && {
      trailing: { after: millionths(trailing.after), distance: toDistance(trailing) },
    }),
    ...(breakEven && {
      breakEven: { after: millionths(breakEven.after), offset: millionths(breakEven.offset) },
    }),
    ...(rows.length > 0 && { profitTable: rows }),
    ...(timeLimit !== undefined && { timeLimitMs: durationMs(timeLimit) }),
    ...(takeProfit && {
      takeProfits: takeProfit.map(({ at, close }) => ({
        at: millionths(at),
        close: millionths(close),
      })),
    }),
    ...(coolDown !== undefined && { coolDownMs: durationMs(coolDown) }),
    ...(protections && { protections: toProtections(protections) }),
    ...(exits.atr && {
      atr: { intervalMs: parseInterval(exits.atr.interval) ?? 0, period: exits.atr.period },
    }),
  }
}

function toDistance({
  distance,
  atr = 0,
}: NonNullable<ExitSettings['stop']> | NonNullable<ExitSettings['trailing']>): ExitDistance {
  return distance === undefined
    ? { kind: 'atr', millionths: millionths(atr) }
    : { kind: 'share', millionths: millionths(distance) }
}

function toProtections({
  stops,
  lowProfit,
}: NonNullable<ExitSettings['protections']>): ExitProtections {
  return {
    ...(stops && {
      stops: {
        count: stops.count,
        withinMs: durationMs(stops.within),
        pauseMs: durationMs(stops.pause),
      },
    }),
    ...(lowProfit && {
      lowProfit: {
        trades: lowProfit.trades,
        withinMs: durationMs(lowProfit.within),
        below: millionths(lowProfit.below),
        pauseMs: durationMs(lowProfit.pause),
      },
    }),
  }
}

const millionths = (share: number): number => Math.round(share * 1_000_000)

function toUniverseRule(section: UniverseSection): UniverseRule {
  const { every, quote, volume, spread, age, volatility, price, top, sticky, ...rest } = section
  const { by, order = by === 'spread' ? 'lowest' : 'highest' } = top
  return {
    ...rest,
    everyMs: durationMs(every),
    stickyMs: durationMs(sticky),
    top: { count: top.count, by, order },
    ...(quote !== undefined && { quote }),
    ...(volume && { volumeMin: volume.min }),
    ...(spread && { spreadMax: spread.max }),
    ...(age && { ageMinMs: durationMs(age.min) }),
    ...(volatility && { volatility }),
    ...(price && { price }),
  }
}

function toRosterSettings(config: DaemonConfig, use: AddressUse): RosterSettings {
  const { productType, marginCoin, leverage } = config.account
  return {
    frame: { productType, marginCoin, ...(leverage !== undefined && { leverage }) },
    fixed: new Set(Object.keys(config.instruments)),
    readMax: readableMax(config, use),
  }
}

type Amounts = { readonly [name in string]?: string | number | undefined }

interface ConfiguredLosses {
  readonly daily?: string | undefined
  readonly drawdown?: Amounts | undefined
  readonly streak?: number | undefined
}

export function toLossSettings(config: DaemonConfig): LossSettings | undefined {
  const scopes = listScopes(config).map(([scope, losses]) => [scope, toLimits(losses)] as const)
  const limits = new Map(scopes.filter(([, limit]) => Object.keys(limit).length > 0))
  if (limits.size === 0 && config.risk.leverageMax === undefined) return undefined
  const { losses } = config.risk
  const coolDownMs = losses === 'none' ? COOL_DOWN_MS : losses.coolDownMs
  return { timeZone: config.calendar.timezone, coolDownMs, limits }
}

export function listScopes({
  risk,
  instruments,
  strategies,
  manual,
}: DaemonConfig): readonly [Scope, ConfiguredLosses][] {
  return [
    [ACCOUNT, risk.losses === 'none' ? {} : risk.losses],
    ...Object.keys(instruments).map((symbol): [Scope, ConfiguredLosses] => [
      symbol,
      risk.instruments[symbol]?.losses ?? {},
    ]),
    ...strategies
      .filter(({ enabled }) => enabled)
      .map((strategy): [Scope, ConfiguredLosses] => [
        strategyScope(strategy.id),
        strategy.risk.losses,
      ]),
    ...(manual ? [[strategyScope(MANUAL), manual.losses] as [Scope, ConfiguredLosses]] : []),
  ]
}

export function toLimits({ daily, drawdown, streak }: ConfiguredLosses): LossLimits {
  const steps = DRAWDOWN_STEPS.flatMap((step) => {
    const limit = drawdown?.[step]
    return limit === undefined ? [] : [[step, Number(limit)] as const]
  })
  return {
    ...(daily !== undefined && { daily: Number(daily) }),
    ...(steps.length > 0 && { drawdown: Object.fromEntries(steps) }),
    ...(streak !== undefined && { streak }),
  }
}

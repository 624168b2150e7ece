import { UID } from '../direct-exchange.ts'
import type { ReportedBacktestOptions } from '../reported-backtest.ts'
import {
  cutRecordings,
  describeRecording,
  emptyRange,
  type PlayedRange,
  readRecordedCandles,
  rowStep,
} from '../played-prices.ts'
import type { VirtualPolling } from '../virtual-pollers.ts'
import { createKeptLooks } from '../kept-rows.ts'
import type { UniverseRecording } from '../../recording/universe/universe-recording.ts'
import type { DaemonConfig, LoadedConfig } from '../../config/load-config.ts'
import {
  embeddedSimulatorSchema,
  type EmbeddedSimulatorSettings,
} from '../../config/schema/simulator-schema.ts'
import {
  configuredContracts,
  contractsOf,
  listInstruments,
} from '../../assembly/instruments/listed-instruments.ts'
import { toEngineSettings, toInstruments } from '../../assembly/settings/engine-settings.ts'
import { toSimulatorOptions } from '../../assembly/simulator/simulated-exchange.ts'
import { ageOfRounds } from '../../assembly/settings/read-pace.ts'
import {
  type LoadedStrategy,
  requireCode,
  showSettingsOf,
} from '../../assembly/strategies/strategies.ts'
import { DAY_MS } from '../../report/collect/equity-series.ts'
import type { PriceCoverage } from '../../report/run-facts.ts'
import type { PriceLooks } from '../../report/run-report.ts'
import { createExchangeCore, type ExchangeCore } from '../../simulator/futures/exchange-core.ts'
import {
  type ListedContract,
  toMarketInstrument,
} from '../../simulator/futures/instruments/instruments.ts'
import type { Market } from '../../simulator/market/market.ts'
import type { FeedFile } from '../feed-file.ts'
import { loadWithFunding } from '../../prices/load-funding.ts'
import type { CandleTapes } from '../../simulator/market/recorded/candle-tape.ts'
import { RecordedMarket } from '../../simulator/market/recorded/recorded-market.ts'
import type { Recording } from '../../prices/recording.ts'
import { SeededMarket } from '../../simulator/market/seeded/seeded-market.ts'
import type { FillModelName } from '../../simulator/matching/fill-model.ts'
import { readStrategyCode, type StrategyCode } from '../../assembly/state/running-config.ts'
import { type LoadingRequest, loadWarm, remarksOnReach } from './load-warm.ts'
import { describeFeeds, loadFeedFiles, toPlayedFeed } from './load-feed-files.ts'
import {
  assertPriced,
  choosesInstruments,
  describeUnpriced,
  listUnfiled,
  narrow,
  type PriceSource,
} from './priced-instruments.ts'
import {
  remarksOn,
  remarksOnOutliers,
  remarksOnRange,
  remarksOnTicks,
  remarksOnVolume,
  remarksOnWindows,
  remarksOnFunding,
} from './price-remarks.ts'
import {
  describeCandidates,
  isKept,
  type LoadedUniverse,
  loadUniverse,
  openKeptRows,
  readRules,
} from './kept-universe.ts'
import type { ContractRules } from '../../domain/contract-rules.ts'

export interface BacktestRequest extends PlayedRange, LoadingRequest {
  readonly files: readonly string[]
  readonly days: number
  readonly seed: number | undefined
  readonly balance: string | undefined
  readonly version: string
  /** Candles that earlier runs drew; this one adds its own. */
  readonly tapes?: CandleTapes | undefined
  /** Absent: only instruments with prices are shown. */
  readonly universe?: UniverseRecording | undefined
}

/** All files are read and checked, so a run can be opened for any fill model. */
export interface PreparedBacktest {
  readonly config: DaemonConfig
  readonly seed: number
  readonly fillModel: FillModelName
  readonly coverage: readonly PriceCoverage[]
  readonly prices: readonly PriceSource[]
  readonly fromAt: number
  readonly toAt: number
  readonly polling: VirtualPolling
  readonly simulator: EmbeddedSimulatorSettings
  readonly universe: LoadedUniverse | undefined
  readonly strategyIds: readonly string[]
  /** Keyed by strategy, as its schema returned them, so with defaults. */
  readonly params: Readonly<Record<string, unknown>>
  readonly code: Readonly<Record<string, StrategyCode>>
  readonly feeds: readonly FeedFile[]
  listRemarks(): readonly string[]
  /** Keyed by instruments without prices in the range; the text says where they have some. */
  unpricedIn(range: PlayedRange): Readonly<Record<string, string>>
  /** @param directory for CSV files; undefined: none */
  optionsFor(model: FillModelName, directory: string | undefined): ReportedBacktestOptions
}

const SEEDED_FROM_AT = Date.UTC(2025, 0, 1)
const SEEDED_STEP_MS_MAX = 5000
const TIME_PASSED_MS_MIN = 100
const GRANT_WAIT_MS_MAX = 500
const ACCOUNT_READ_MS_MAX = 30_000
/**
 * The run begins so much earlier with a look that measures the clock, so that it sees the first
 * kept answer at its instant.
 */
const CLOCK_LOOK_MS = 1000
/** Some minutes of fills are read again at each reading. */
const FILLS_KEPT = 1000

/** @throws ConfigError for strategies that do not load; Failure for prices that cannot be played */
export async function prepareBacktest(
  loaded: LoadedConfig,
  request: BacktestRequest,
): Promise<PreparedBacktest> {
  const simulator = simulatorOf(loaded.config, request)
  const { whole, universe } = await loadPrices(loaded.config, request, simulator)
  const recordings = whole.length === 0 ? [] : cutRecordings(whole, request)
  assertPriced(loaded, whole, request)
  const config = narrow(loaded.config, recordings)
  const { polling, ...age } = paceOf(config, universe)
  const played =
    recordings.length > 0
      ? playRecordings(config, recordings, { whole, tapes: request.tapes, universe })
      : playSeed(config, { ...request, simulator, polling })
  const fromAt = Math.min(...played.viewed.map((prices) => prices.fromAt))
  const toAt = Math.max(...played.viewed.map((prices) => prices.toAt))
  const strategies = await loadWarm({ ...loaded, config }, { whole, fromAt, request })
  const feeds = await loadFeedFiles(request.feeds ?? [], strategies, config.signals)
  const settings = settingsOf(config, { strategies, version: request.version, simulator, age })
  const { account, exchange, backtest } = config
  // Rules choose among the kept contracts, which are read during the run; without any, among these.
  const isChosenHere = choosesInstruments(config) && universe?.hasContracts !== true
  return {
    config,
    simulator,
    coverage: played.coverage,
    fromAt,
    toAt,
    polling,
    feeds,
    universe,
    prices: whole.length > 0 ? whole : played.coverage,
    seed: simulator.seed,
    fillModel: simulator.fillModel,
    strategyIds: strategies.map(({ id }) => id),
    params: Object.fromEntries(strategies.map(({ id, params }) => [id, params])),
    code: Object.fromEntries(
      strategies.map(({ id, moduleFile }) => [id, readStrategyCode(moduleFile)]),
    ),
    listRemarks: () =>
      listRemarks(
        strategies,
        { config, simulator, coverage: played.coverage, polling, feeds, fromAt, toAt },
        { whole, recordings, universe, request },
      ),
    unpricedIn: (range) => describeUnpriced({ ...loaded, config }, whole, range),
    optionsFor: (fillModel, directory) => ({
      config,
      model: fillModel,
      coverage: played.viewed,
      instruments: toInstruments(played.simulated),
      keptRows: universe && openKeptRows(universe, request),
      toAt,
      directory,
      backtest: {
        startAt: fromAt - (universe === undefined ? 0 : CLOCK_LOOK_MS + backtest.latencyMs),
        polling,
        latencyMs: backtest.latencyMs,
        settings: { ...settings, recordedCandle: readRecordedCandles(whole, toAt) },
        limits: { tier: account.tier, use: exchange.limitsUse },
        feeds: feeds.map(toPlayedFeed),
        strategies: new Map(
          strategies.map((one) => [one.id, { strategy: requireCode(one), params: one.params }]),
        ),
        core: openExchange(played, { config, simulator, fillModel, startAt: fromAt }),
        contracts: isChosenHere ? configuredContracts(config) : undefined,
      },
    }),
  }
}

function settingsOf(
  config: DaemonConfig,
  {
    strategies,
    version,
    simulator,
    age,
  }: {
    readonly strategies: readonly LoadedStrategy[]
    readonly version: string
    readonly simulator: EmbeddedSimulatorSettings
    readonly age: Pick<BacktestPace, 'accountAgeMaxMs'>
  },
) {
  // A backtest has no trades by hand.
  return toEngineSettings(
    { ...config, manual: undefined },
    {
      // A constant salt gives orders the same names in each run.
      salt: 'backtest',
      version,
      embedded: true,
      shown: showSettingsOf(strategies),
      capital: simulator.startingBalance,
      ...age,
    },
  )
}

type RemarkedRun = Pick<
  PreparedBacktest,
  'config' | 'simulator' | 'coverage' | 'polling' | 'feeds' | 'fromAt' | 'toAt'
>

/** @param prices before and after they were cut to the run */
function listRemarks(
  strategies: readonly LoadedStrategy[],
  { config, simulator, coverage, polling, feeds, fromAt, toAt }: RemarkedRun,
  {
    whole,
    recordings,
    universe,
    request,
  }: {
    readonly whole: readonly Recording[]
    readonly recordings: readonly Recording[]
    readonly universe: LoadedUniverse | undefined
    readonly request: PlayedRange
  },
): readonly string[] {
  return [
    ...remarksOnRange(request, { coverage, fromAt, toAt }),
    ...(universe?.remarks ?? []),
    ...remarksOn(strategies, coverage, simulator),
    ...remarksOnReach(config),
    ...describeFeeds(strategies, feeds, { fromAt, toAt }),
    ...remarksOnFunding(config, whole, { fromAt, toAt }),
    ...remarksOnWindows(strategies, polling.tickersMs),
    ...remarksOnTicks(config, recordings),
    ...remarksOnOutliers(recordings),
    ...remarksOnVolume(config, recordings),
  ]
}

function openExchange(
  played: Prices,
  {
    config: { account },
    simulator,
    fillModel,
    startAt,
  }: {
    readonly config: DaemonConfig
    readonly simulator: EmbeddedSimulatorSettings
    readonly fillModel: FillModelName
    readonly startAt: number
  },
): ExchangeCore {
  const { seed, startingBalance, leverage } = simulator
  const { core: matching } = toSimulatorOptions(simulator, { files: [], speed: 1 })
  return createExchangeCore({
    instruments: played.instruments,
    accounts: [
      {
        uid: UID,
        label: 'backtest',
        key: 'key',
        secret: 'secret',
        passphrase: 'passphrase',
        leverage,
        positionMode: account.positionMode,
        role: account.tier,
        balances: { [account.marginCoin]: startingBalance },
      },
    ],
    market: () => played.open({ seed, startAt, simulator }),
    settings: { ...matching, fillModel, fillsMax: FILLS_KEPT },
    seed,
  })
}

function simulatorOf(
  { simulator }: DaemonConfig,
  { seed, balance }: BacktestRequest,
): EmbeddedSimulatorSettings {
  const given =
    simulator ?? embeddedSimulatorSchema.parse({ seed: 1, startingBalance: '10000', market: {} })
  return { ...given, seed: seed ?? given.seed, startingBalance: balance ?? given.startingBalance }
}

interface LoadedPrices {
  /** Sorted by symbol, so that the order does not depend on the options. */
  readonly whole: readonly Recording[]
  readonly universe: LoadedUniverse | undefined
}

async function loadPrices(
  config: DaemonConfig,
  request: BacktestRequest,
  { market }: EmbeddedSimulatorSettings,
): Promise<LoadedPrices> {
  const files = await loadWithFunding(request.files, market.funding)
  const universe =
    request.universe &&
    loadUniverse(request.universe, {
      ...request,
      productType: config.account.productType,
      symbols: listUnfiled(config, files),
      candidates: listCandidates(config, request.universe, { ...request, files }),
    })
  const whole = [...files, ...(universe?.quotes ?? [])]
  return {
    whole: whole.toSorted((one, other) => (one.symbol < other.symbol ? -1 : 1)),
    universe,
  }
}

function listCandidates(
  config: DaemonConfig,
  universe: UniverseRecording,
  { files, ...range }: PlayedRange & { readonly files: readonly Recording[] },
): ReadonlyMap<string, ContractRules> {
  if (!choosesInstruments(config)) return new Map()
  const rules = new Map([...readRules(universe, range), ...configuredContracts(config)])
  for (const { symbol } of files) rules.delete(symbol)
  return rules
}

interface Prices {
  readonly coverage: readonly PriceCoverage[]
  readonly viewed: readonly PriceCoverage[]
  readonly simulated: DaemonConfig
  readonly instruments: readonly ListedContract[]
  readonly open: (start: {
    seed: number
    startAt: number
    simulator: EmbeddedSimulatorSettings
  }) => Market
}

function listed(config: DaemonConfig, now: number): readonly ListedContract[] {
  const rows = listInstruments(contractsOf(config), now)
  return rows.filter(({ symbol }) => config.instruments[symbol] !== undefined)
}

function playRecordings(
  config: DaemonConfig,
  recordings: readonly Recording[],
  { whole, tapes, universe }: LoadedPrices & { readonly tapes: CandleTapes | undefined },
): Prices {
  const viewed = recordings.map((recording) => {
    const uncut = whole.find(
      ({ sha256, symbol }) => sha256 === recording.sha256 && symbol === recording.symbol,
    )
    return describeRecording(recording, rowStep(uncut ?? recording))
  })
  const simulated = withCandidates(config, universe)
  const instruments = listed(simulated, viewed[0]?.fromAt ?? 0)
  const toAt = Math.max(...viewed.map((one) => one.toAt))
  const chosen = viewed.filter(({ symbol }) => config.instruments[symbol] === undefined)
  const continued = new Set(
    whole
      .filter(
        (recording) =>
          describeRecording(recording).toAt >= toAt ||
          (isKept(recording) && universe?.listedLast.has(recording.symbol) === true),
      )
      .map(({ symbol }) => symbol),
  )
  return {
    coverage: [
      ...viewed.filter((one) => !chosen.includes(one)),
      ...(universe && chosen.length > 0 ? [describeCandidates(universe)] : []),
    ],
    viewed,
    simulated,
    instruments,
    open: ({ seed, startAt, simulator: { market } }) =>
      new RecordedMarket({
        recordings,
        speed: 1,
        startAt,
        instruments: instruments.map(toMarketInstrument),
        fallback: { seed },
        candlePath: market.candlePath,
        continued,
        tapes,
      }),
  }
}

function withCandidates(config: DaemonConfig, universe: LoadedUniverse | undefined): DaemonConfig {
  const chosen = [...(universe?.candidates ?? [])].map(
    ([symbol, { tickSize, lotSize, minSize, minNotional }]) =>
      [symbol, { tickSize, lotSize, minSize, minNotional }] as const,
  )
  return { ...config, instruments: { ...Object.fromEntries(chosen), ...config.instruments } }
}

interface SeededPrices extends BacktestRequest {
  readonly simulator: EmbeddedSimulatorSettings
  readonly polling: VirtualPolling
}

function playSeed(
  config: DaemonConfig,
  { fromAt = SEEDED_FROM_AT, toAt, days, simulator, polling }: SeededPrices,
): Prices {
  const endAt = toAt ?? fromAt + days * DAY_MS
  if (endAt <= fromAt)
    throw emptyRange({ from: new Date(fromAt).toISOString(), to: new Date(endAt).toISOString() })
  const stepMs = Math.max(simulator.stepMs, Math.min(SEEDED_STEP_MS_MAX, polling.tickersMs))
  const instruments = listed(config, fromAt)
  const { startPrices, yearlyVolatility } = simulator.market
  const rows = instruments.map((instrument) => {
    const row = toMarketInstrument(instrument)
    return { ...row, startPrice: startPrices[row.symbol] ?? row.startPrice, yearlyVolatility }
  })
  const coverage = rows.map(({ symbol }): PriceCoverage => ({
    symbol,
    source: `seed ${simulator.seed}`,
    sha256: '',
    kind: 'seeded',
    stepMs,
    fromAt,
    toAt: endAt,
    rows: 0,
    hasMark: true,
    hasFunding: true,
    gaps: {
      count: 0,
      totalMs: 0,
      longest: [],
    },
  }))
  return {
    instruments,
    simulated: config,
    coverage,
    viewed: coverage,
    open: ({ seed, startAt }) => new SeededMarket({ seed, startAt, stepMs, instruments: rows }),
  }
}

/** Without `accountAgeMaxMs` the limit is that of a live run. */
interface BacktestPace {
  readonly polling: VirtualPolling
  readonly accountAgeMaxMs?: number
}

/**
 * Reads as a live run does, or as the section `backtest` says. Default: fills and positions are
 * read as often as prices, and every half minute or, if looks are rarer and the data are then young
 * enough, right before each look.
 */
function paceOf(config: DaemonConfig, universe: LoadedUniverse | undefined): BacktestPace {
  const pace = lookPaceOf(config)
  if (universe === undefined) return pace
  const { latencyMs } = config.backtest
  const { tickersMs } = pace.polling
  const looks = createKeptLooks(universe.instants, {
    tickersMs,
    stepMs: universe.stepMs,
    latencyMs,
  })
  return { ...pace, polling: { ...pace.polling, nextTickersMs: looks } }
}

function lookPaceOf({ polling, backtest, risk, execution }: DaemonConfig): BacktestPace {
  const { pollMs, accountMs, latencyMs } = backtest
  if (pollMs === undefined && accountMs === undefined)
    return { polling: { ...polling, timeMs: TIME_PASSED_MS_MIN } }
  const tickersMs = pollMs ?? polling.tickersMs
  const looks =
    pollMs === undefined
      ? { tickersMs, timeMs: TIME_PASSED_MS_MIN }
      : { tickersMs, timeMs: Math.max(TIME_PASSED_MS_MIN, pollMs), waitingMs: TIME_PASSED_MS_MIN }
  if (accountMs !== undefined) {
    return {
      polling: { ...looks, fillsMs: accountMs, positionsMs: accountMs },
      accountAgeMaxMs: ageOfRounds(accountMs),
    }
  }
  const everyMs = Math.min(tickersMs, ACCOUNT_READ_MS_MAX)
  const [fillsMs, positionsMs] = [
    Math.max(polling.fillsMs, everyMs),
    Math.max(polling.positionsMs, everyMs),
  ]
  const fillsBeforeMs = 2 * latencyMs + GRANT_WAIT_MS_MAX
  // A position counts once the fills visible at its reading are known.
  const positionsBeforeMs =
    fillsBeforeMs + execution.fillVisibilityMs + latencyMs + GRANT_WAIT_MS_MAX
  const isBefore =
    everyMs < tickersMs &&
    Math.max(polling.fillsMs, polling.positionsMs, 2 * positionsBeforeMs) <= tickersMs &&
    positionsBeforeMs + Math.min(risk.dataAgeMaxMs, tickersMs) <= 2 * ACCOUNT_READ_MS_MAX
  return {
    polling: {
      ...looks,
      fillsMs,
      positionsMs,
      ...(isBefore && {
        beforeTickers: { fillsMs: fillsBeforeMs, positionsMs: positionsBeforeMs },
      }),
    },
    accountAgeMaxMs: ageOfRounds(isBefore ? tickersMs : Math.max(fillsMs, positionsMs)),
  }
}

export function looksOf({ config, polling }: PreparedBacktest): PriceLooks {
  return { everyMs: polling.tickersMs, dataAgeMaxMs: config.risk.dataAgeMaxMs }
}

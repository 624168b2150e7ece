import type { DaemonConfig, LoadedConfig } from '../../config/load-config.ts'
import type { EmbeddedSimulatorSettings } from '../../config/schema/simulator-schema.ts'
import type { SigningKeys } from '../../exchange/client/request-writer.ts'
import { Secret } from '../../lib/secret.ts'
import type {
  AccountRequest,
  RunningSimulator,
  SimulatorOptions,
} from '../../simulator/start-simulator.ts'
import type { LiveSource } from '../../simulator/market/live/live-market.ts'
import type { MarketChoice } from '../../simulator/prepare-market.ts'
import { defaultPlatformCoin } from '../../simulator/wallet/platform-coin.ts'
import {
  defaultRateLimitSettings,
  type RateLimitSettings,
} from '../../simulator/wire/checks/rate-limits.ts'
import type { ServerEvent } from '../../simulator/wire/server-event.ts'
import type { LogLevel } from '../../logging/logger.ts'
import type { PlayedPrices } from '../../config/market-files.ts'
import { DATA_AGE_MS_MAX } from '../../config/schema/risk-schema.ts'
import type { Problem } from '../../config/yaml/problem.ts'
import { loadRecording } from '../../prices/load-recording.ts'
import { priceStepMs } from '../../simulator/market/recorded/recorded-path.ts'

export type SimulatorSettings = Omit<EmbeddedSimulatorSettings, 'startingBalance' | 'leverage'>

export interface MarketOverride {
  /** Each is a path or `SYMBOL=path`. */
  readonly files: readonly string[]
  readonly speed: number | undefined
}

export function toSimulatorOptions(
  settings: SimulatorSettings,
  override: MarketOverride,
  live?: LiveSource,
): Pick<
  SimulatorOptions,
  'market' | 'seed' | 'demoPast' | 'core' | 'wire' | 'faults' | 'answerLatency'
> {
  const deviation = settings.latencySpread
  return {
    market: live === undefined ? chooseMarket(settings, override) : { kind: 'live', source: live },
    seed: settings.seed,
    demoPast: settings.demoPast,
    core: {
      makerFeeRate: settings.makerFeeRate,
      takerFeeRate: settings.takerFeeRate,
      ...(settings.feeCoin && {
        feeCoin: settings.feeCoin.name,
        feeCoinPrice: settings.feeCoin.price,
      }),
      idempotency: settings.idempotency,
      fillModel: settings.fillModel,
      delisting: settings.delisting,
      deliveryConfigMs: settings.deliveryConfigMs,
      matchingLagMs: settings.matchingLagMs,
      entryLatency: { medianMs: settings.entryLatencyMs, deviation },
      fillVisibilityLagMs: settings.fillVisibilityLagMs,
    },
    wire: {
      businessErrorStatus: settings.businessErrorStatus,
      timestampToleranceMs: settings.timestampToleranceMs,
      rateLimits: toRateLimits(settings),
    },
    faults: { probability: settings.faults },
    answerLatency: { medianMs: settings.answerDelayMs, deviation },
  }
}

export function toRateLimits({ limits }: SimulatorSettings): RateLimitSettings {
  const { overall, ...others } = defaultRateLimitSettings
  return {
    ...others,
    counting: limits.counting,
    overall: { ...overall, calls: limits.overallCalls },
  }
}

export const SIMULATED_UID = '1000001'

export function toAccount(
  { name, account }: Pick<DaemonConfig, 'name' | 'account'>,
  { startingBalance, leverage, feeCoin }: EmbeddedSimulatorSettings,
): AccountRequest {
  return {
    uid: SIMULATED_UID,
    label: name,
    positionMode: account.positionMode,
    role: account.tier,
    balances: {
      [account.marginCoin]: startingBalance,
      ...(feeCoin && { [feeCoin.name]: feeCoin.balance }),
    },
    leverage,
  }
}

export function credentialsOf({ accounts }: RunningSimulator): SigningKeys {
  const account = accounts.find(({ uid }) => uid === SIMULATED_UID)
  return {
    apiKey: new Secret(account?.key ?? ''),
    secret: new Secret(account?.secret ?? ''),
    passphrase: new Secret(account?.passphrase ?? ''),
  }
}

export function simulatorCoin(): string {
  return defaultPlatformCoin.name.toLowerCase()
}

export function levelOf(kind: ServerEvent['kind']): LogLevel {
  if (kind === 'volumesCut' || kind === 'settingsKept') return 'warn'
  return kind === 'requestRefused' || kind === 'faultInjected' ? 'debug' : 'error'
}

export function filesOf(
  { market }: Pick<SimulatorSettings, 'market'>,
  override: MarketOverride,
): readonly string[] {
  if (override.files.length > 0) return override.files
  return Object.entries(market.recordings).map(([symbol, file]) => `${symbol}=${file}`)
}

function chooseMarket(settings: SimulatorSettings, override: MarketOverride): MarketChoice {
  const { market, stepMs } = settings
  const files = filesOf(settings, override)
  const speed = override.speed ?? settings.speed
  const { startPrices: prices, yearlyVolatility, repeat, candlePath, funding } = market
  const madeUp = { prices, yearlyVolatility, stepMs, speed }
  if (files.length > 0) return { kind: 'recorded', files, funding, repeat, candlePath, ...madeUp }
  return { kind: 'seeded', ...madeUp }
}

export function listFollowingSeed(
  { simulator, instruments }: Pick<DaemonConfig, 'simulator' | 'instruments'>,
  recorded: readonly string[] | undefined,
): readonly string[] {
  if (simulator === undefined || simulator.market.live !== undefined) return []
  const priced = recorded ?? Object.keys(simulator.market.recordings)
  return Object.keys(instruments).filter((symbol) => !priced.includes(symbol))
}

export function listPriceless(
  { simulator, instruments }: Pick<DaemonConfig, 'simulator' | 'instruments'>,
  { files, recorded = [] }: PlayedPrices,
): readonly string[] {
  if (simulator === undefined || simulator.market.live !== undefined) return []
  const { startPrices, recordings } = simulator.market
  const priced = [
    ...Object.keys(startPrices),
    ...(files.length > 0 ? recorded : Object.keys(recordings)),
  ]
  return Object.keys(instruments).filter((symbol) => !priced.includes(symbol))
}

export function listMadeUp(
  { simulator, instruments }: Pick<DaemonConfig, 'simulator' | 'instruments'>,
  { files, recorded = [] }: PlayedPrices,
): readonly string[] {
  if (simulator === undefined) return []
  const priced = files.length > 0 ? recorded : Object.keys(simulator.market.recordings)
  return priced.length === 0
    ? []
    : Object.keys(instruments).filter((symbol) => !priced.includes(symbol))
}

export interface SlowPrices {
  readonly symbol: string
  readonly everyMs: number
  readonly advice: string
}

const ROUND_MS = 500

export function findSlowPrices(
  stepsMs: ReadonlyMap<string, number>,
  { risk, polling }: Pick<DaemonConfig, 'risk' | 'polling'>,
): readonly SlowPrices[] {
  return [...stepsMs].flatMap(([symbol, stepMs]) => {
    // A price is read for the last time right before the next one comes.
    const oldestMs = stepMs + polling.tickersMs
    if (oldestMs <= risk.dataAgeMaxMs) return []
    const leastMs = Math.ceil(oldestMs / ROUND_MS) * ROUND_MS
    const advice =
      leastMs <= DATA_AGE_MS_MAX
        ? `set risk.dataAgeMaxMs to ${leastMs} at least`
        : 'play shorter candles, or play these faster (--speed)'
    return [{ symbol, everyMs: Math.round(stepMs), advice }]
  })
}

export async function listSlowPrices(
  { config, documents }: LoadedConfig,
  played: MarketOverride,
): Promise<readonly Problem[]> {
  if (config.simulator === undefined) return []
  const { market } = config.simulator
  const speed = played.speed ?? config.simulator.speed
  const stepsMs = new Map<string, number>()
  for (const file of filesOf({ market }, played)) {
    const recording = await loadRecording(file).catch(() => undefined)
    if (recording) stepsMs.set(recording.symbol, priceStepMs(recording, speed, market.candlePath))
  }
  return findSlowPrices(stepsMs, config).map(({ symbol, everyMs, advice }) =>
    documents.main.problem(
      ['risk', 'dataAgeMaxMs'],
      `${config.risk.dataAgeMaxMs} ms is less than the time between two prices of ${symbol}, ${everyMs} ms at speed ${speed}: in between nobody decides and orders are denied (DATA_STALE); ${advice}`,
    ),
  )
}

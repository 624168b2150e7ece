import type { DaemonConfig } from '../../config/load-config.ts'
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

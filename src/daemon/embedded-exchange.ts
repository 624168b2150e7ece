import { basename, join } from 'node:path'
import { type DaemonConfig } from '../config/load-config.ts'
import { type EmbeddedSimulatorSettings } from '../config/simulator-schema.ts'
import { type Clock } from '../lib/clock.ts'
import { decimal, sumDecimals } from '../lib/decimal.ts'
import { Secret } from '../lib/secret.ts'
import { type Timers } from '../lib/timers.ts'
import { type MarketChoice, type RunningSimulator, startSimulator } from '../simulator/start-simulator.ts'
import { defaultRateLimitSettings } from '../simulator/wire/rate-limits.ts'
import { type ServerEvent } from '../simulator/wire/server-event.ts'
import { type ExchangeAccess } from './exchange-access.ts'
import { type AccountSummary } from './summary.ts'

/** The one account of the simulator inside the daemon. */
const UID = '1000001'

/** What the command line says about the market, over the file. */
export interface MarketOverride {
  /** Recordings: a path, or `SYMBOL=path`. */
  readonly files: readonly string[]
  readonly speed: number | undefined
}

export interface EmbeddedExchangeOptions {
  readonly config: DaemonConfig
  readonly settings: EmbeddedSimulatorSettings
  readonly market: MarketOverride
  /** The world's own state directory. */
  readonly directory: string
  readonly clock: Clock
  readonly timers: Timers
  readonly onEvent: (event: ServerEvent) => void
}

/** The simulator that lives inside the daemon: an exchange like any other, over signed HTTP on loopback. */
export interface EmbeddedExchange extends ExchangeAccess {
  /** Unix ms when the recording ends; undefined when it does not. */
  readonly endsAt: number | undefined
  /** The market stands still; the exchange still answers. */
  pause(): void
  /** The exchange's own books, in the closing summary's terms. */
  ledger(): AccountSummary & { readonly balance: string }
  stop(): Promise<void>
}

/** @throws Failure as `startSimulator` does. */
export async function startEmbeddedExchange(options: EmbeddedExchangeOptions): Promise<EmbeddedExchange> {
  const { config, settings, clock, timers, onEvent } = options
  const simulator = await startSimulator({
    market: chooseMarket(settings, options.market),
    seed: settings.seed,
    accounts: [
      {
        uid: UID,
        label: config.name,
        positionMode: config.account.positionMode,
        balances: { [config.account.marginCoin]: settings.startingBalance },
        leverage: settings.leverage,
      },
    ],
    storeFile: join(options.directory, 'exchange.sqlite'),
    core: {
      makerFeeRate: settings.makerFeeRate,
      takerFeeRate: settings.takerFeeRate,
      idempotency: settings.idempotency,
      matchingLagMs: settings.matchingLagMs,
      fillVisibilityLagMs: settings.fillVisibilityLagMs,
    },
    wire: {
      businessErrorStatus: settings.businessErrorStatus,
      timestampToleranceMs: settings.timestampToleranceMs,
      rateLimits: { ...defaultRateLimitSettings, counting: settings.limits.counting },
    },
    faults: { probability: settings.faults },
    answerDelayMs: settings.answerDelayMs,
    clock,
    timers,
    onEvent,
  })
  return {
    baseUrl: simulator.baseUrl,
    credentials: credentialsOf(simulator),
    endsAt: simulator.endsAt,
    pause: () => simulator.pause(),
    ledger: () => readLedger(simulator),
    stop: () => simulator.stop(),
  }
}

/** Names what the state belongs to: another mode, market or speed is another world, with a state of its own. */
export function worldOf(
  config: DaemonConfig,
  settings: EmbeddedSimulatorSettings,
  market: MarketOverride,
): string {
  const mode = config.account.positionMode === 'hedge_mode' ? 'hedge' : 'one-way'
  const files = filesOf(settings, market)
  const speed = market.speed ?? settings.speed
  const prices =
    files.length === 0
      ? `seed-${settings.seed}`
      : files.map((file) => basename(file).replace(/\.csv(\.gz)?$/, '')).join('+')
  return `${mode}-${prices}${speed === 1 ? '' : `-x${speed}`}`.replaceAll(/[^\w.+-]/g, '_')
}

function filesOf({ market }: EmbeddedSimulatorSettings, override: MarketOverride): readonly string[] {
  if (override.files.length > 0) return override.files
  return Object.entries(market.recordings).map(([symbol, file]) => `${symbol}=${file}`)
}

function chooseMarket(settings: EmbeddedSimulatorSettings, override: MarketOverride): MarketChoice {
  const { market, stepMs } = settings
  const files = filesOf(settings, override)
  const speed = override.speed ?? settings.speed
  if (files.length > 0) return { kind: 'recorded', files, speed, stepMs, repeat: market.repeat }
  return {
    kind: 'seeded',
    prices: market.startPrices,
    yearlyVolatility: market.yearlyVolatility,
    stepMs,
    speed,
  }
}

function credentialsOf({ accounts }: RunningSimulator): ExchangeAccess['credentials'] {
  const account = accounts.find(({ uid }) => uid === UID)
  return {
    apiKey: new Secret(account?.key ?? ''),
    secret: new Secret(account?.secret ?? ''),
    passphrase: new Secret(account?.passphrase ?? ''),
  }
}

function readLedger(simulator: RunningSimulator): AccountSummary & { readonly balance: string } {
  const { coins, positions, counts } = simulator.ledger(UID)
  const coin = coins[0]
  const unrealised = sumDecimals(positions.map((position) => decimal(position.unrealised)))
  return {
    balance: coin?.balance ?? '0',
    fills: counts.fills,
    fees: coin?.fees ?? '0',
    realisedProfit: coin?.realisedProfit ?? '0',
    unrealisedProfit: unrealised.toString(),
    funding: coin?.funding ?? '0',
    positions: Object.fromEntries(
      positions.map(({ symbol, holdSide, size }) => [`${symbol} ${holdSide}`, size]),
    ),
  }
}

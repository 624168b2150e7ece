import { decimal } from '../lib/decimal.ts'
import { createRandom } from '../lib/random.ts'
import { type Clock, systemClock } from '../lib/clock.ts'
import { randomHex } from '../lib/entropy.ts'
import { systemTimers, type Timers } from '../lib/timers.ts'
import type { ExchangeAccountSetup, GatewayClient } from './shared/account.ts'
import { createExchangeCore } from './futures/exchange-core.ts'
import {
  buildInstruments,
  type ListedContract,
  quarterlyDeliveries,
} from './futures/instruments/instruments.ts'
import type { CoreSettings } from './futures/settings.ts'
import { SqliteStore } from './store/sqlite-store.ts'
import type { RowStore } from './store/stored-rows.ts'
import { type ServiceSettings, Exchange, type ExchangeStatement } from './exchange.ts'
import { drawLatency, type LatencySettings, NO_LATENCY } from './shared/latency.ts'
import { type MarketChoice, prepareMarket } from './prepare-market.ts'
import { FaultPlan, type FaultSettings, noFaults } from './wire/faults.ts'
import { Wire } from './wire/handle.ts'
import type { ServerEvent, WireCounters } from './wire/server-event.ts'
import { startServer } from './wire/server.ts'
import { defaultWireSettings, type WireSettings } from './wire/settings.ts'

/** Missing credentials are made up at random. */
export type AccountRequest = Omit<
  ExchangeAccountSetup,
  'key' | 'secret' | 'passphrase' | 'role' | 'gateway'
> &
  Partial<Pick<ExchangeAccountSetup, 'key' | 'secret' | 'passphrase' | 'role'>> & {
    readonly gateway?: Partial<GatewayClient>
  }

export interface SimulatorOptions {
  readonly market: MarketChoice
  readonly seed: number | string
  readonly accounts: readonly AccountRequest[]
  readonly instruments?: readonly ListedContract[]
  /** The market stands still between two starts. */
  readonly storeFile?: string
  readonly store?: RowStore
  readonly isPaused?: boolean
  readonly core?: Partial<CoreSettings>
  readonly services?: ServiceSettings
  readonly demoPast?: boolean
  readonly wire?: Partial<WireSettings>
  readonly faults?: FaultSettings
  readonly host?: string
  readonly port?: number
  readonly tickMs?: number
  readonly answerLatency?: LatencySettings
  readonly clock?: Clock
  readonly timers?: Timers
  readonly onEvent?: (event: ServerEvent) => void
}

export interface RunningSimulator {
  readonly baseUrl: string
  readonly accounts: readonly ExchangeAccountSetup[]
  readonly exchange: Exchange
  readonly endsAt: number | undefined
  readonly priceStepsMs: ReadonlyMap<string, number>
  /** Symbols without a recording beside others with one: their prices are seeded. */
  readonly madeUp: readonly string[]
  ledger(uid: string): ExchangeStatement
  counters(): WireCounters & { readonly faults: ReturnType<FaultPlan['counts']> }
  pause(): void
  resume(): void
  stop(): Promise<void>
}

const TICK_MS = 50

/**
 * The daemon embeds this, and sends it signed HTTP like any exchange.
 * @throws Failure SIMULATOR_LISTEN_FAILED, SIMULATOR_STORE_… , RECORDING_… for unreadable files,
 * MARKET_OPTION_INVALID
 * @throws RangeError for impossible fault settings
 */
export async function startSimulator(options: SimulatorOptions): Promise<RunningSimulator> {
  const { clock = systemClock, seed, storeFile } = options
  const startAt = clock.now()
  const instruments = options.instruments ?? buildInstruments(...quarterlyDeliveries(startAt))
  const market = await prepareMarket(options.market, {
    instruments,
    seed,
    startAt,
    onCut: (cut) =>
      options.onEvent?.({
        kind: 'volumesCut',
        ...cut,
      }),
  })
  const file = storeFile === undefined ? undefined : new SqliteStore(storeFile)
  const store = file ?? options.store
  try {
    const accounts = options.accounts.map(openAccount)
    const core = createExchangeCore({
      instruments,
      accounts,
      market,
      seed,
      settings: options.core ?? {},
      ...(store && { store }),
    })
    if (core.now > 0) {
      core.pause(core.now)
      core.resume(startAt)
    }
    if (options.isPaused === true) core.pause(startAt)
    const { services: settings = {}, demoPast = false } = options
    const firstSettings = firstSettingsOf(options)
    const exchange = new Exchange({ core, seed, startAt, settings, demoPast, firstSettings })
    if (exchange.settingsKept.length > 0)
      options.onEvent?.({ kind: 'settingsKept', settings: exchange.settingsKept })
    return await serve(options, exchange, { clock, close: () => file?.close() })
  } catch (error) {
    file?.close()
    throw error
  }
}

/** If these differ later, that is only reported; another seed, speed or recording is refused. */
function firstSettingsOf({ accounts, market, services, demoPast = false }: SimulatorOptions) {
  const prices = market.kind === 'live' ? {} : (market.prices ?? {})
  const { opening = {}, platformOpening } = services?.spot ?? {}
  const named: readonly (readonly [name: string, value: string])[] = [
    ...accounts.flatMap(({ label, balances }) =>
      Object.entries(balances).map(
        ([coin, amount]) => [`startingBalance of ${label}`, `${plain(amount)} ${coin}`] as const,
      ),
    ),
    ...Object.entries(prices).map(
      ([symbol, price]) => [`market.startPrices.${symbol}`, plain(price)] as const,
    ),
    ...Object.entries(opening).map(
      ([coin, amount]) => [`services.spot.opening.${coin}`, plain(amount)] as const,
    ),
    ...(platformOpening === undefined
      ? []
      : [['services.spot.platformOpening', plain(platformOpening)] as const]),
    ['demoPast', String(demoPast)],
  ]
  return Object.fromEntries(named)
}

function plain(amount: string): string {
  return decimal(amount).toFixed()
}

async function serve(
  options: SimulatorOptions,
  exchange: Exchange,
  { clock, close }: { readonly clock: Clock; readonly close: () => void },
): Promise<RunningSimulator> {
  const { onEvent = () => {}, seed, answerLatency = NO_LATENCY } = options
  const { core } = exchange
  const platformCoin = options.services?.platformCoin?.name ?? defaultWireSettings.platformCoin
  const settings = { ...defaultWireSettings, platformCoin, ...options.wire }
  const wire = new Wire({ exchange, clock, settings, onEvent })
  const faults = new FaultPlan(options.faults ?? noFaults, seed)
  const random = createRandom(seed).fork('answers')
  const server = await startServer({
    wire,
    faults,
    clock,
    onEvent,
    timers: options.timers ?? systemTimers,
    host: options.host ?? '127.0.0.1',
    port: options.port ?? 0,
    stepMs: options.tickMs ?? TICK_MS,
    advance: (now) => exchange.advance(now),
    answerDelay: () => drawLatency(answerLatency, random),
    bodyBytesMax: settings.bodyBytesMax,
  })
  let stopped: Promise<void> | undefined
  const stop = async () => {
    await server.stop()
    core.pause(clock.now())
    close()
  }
  const { priceStepsMs } = core
  const now = clock.now()
  const symbols = core
    .instruments()
    .filter(
      ({ delivery }) =>
        delivery === undefined || (now >= delivery.listedAt && now < delivery.deliveryAt),
    )
    .map(({ symbol }) => symbol)
  return {
    baseUrl: server.baseUrl,
    accounts: core.accounts(),
    exchange,
    priceStepsMs,
    madeUp: priceStepsMs.size === 0 ? [] : symbols.filter((symbol) => !priceStepsMs.has(symbol)),
    get endsAt() {
      return core.endsAt
    },
    ledger: (uid) => exchange.ledger(uid),
    counters: () => ({
      ...wire.counters(),
      faults: faults.counts(),
    }),
    pause: () => core.pause(clock.now()),
    resume: () => core.resume(clock.now()),
    stop: () => (stopped ??= stop()),
  }
}

function openAccount({ gateway, ...request }: AccountRequest): ExchangeAccountSetup {
  return {
    role: 'ordinary',
    key: `sim_${randomHex(16)}`,
    secret: randomHex(32),
    passphrase: randomHex(8),
    ...request,
    ...(gateway && {
      gateway: {
        key: `gateway_${randomHex(16)}`,
        secret: randomHex(32),
        isWhitelisted: true,
        ...gateway,
      },
    }),
  }
}

import { LivePrices, type LivePricesOptions } from './live-prices.ts'
import { basename, join } from 'node:path'
import { loadProxies } from '../../config/proxy.ts'
import type { DaemonConfig } from '../../config/load-config.ts'
import type { EmbeddedSimulatorSettings } from '../../config/schema/simulator-schema.ts'
import type { Clock } from '../../lib/clock.ts'
import { decimal, sumDecimals } from '../../lib/decimal.ts'
import type { Timers } from '../../lib/timers.ts'
import type { RunningSimulator } from '../../simulator/start-simulator.ts'
import type { ServerEvent } from '../../simulator/wire/server-event.ts'
import type { BeyondCaller } from '../../exchange/readers/candles-reader.ts'
import type { ExchangeAccess } from '../../exchange/client/request-writer.ts'
import { contractsOf, listInstruments } from '../../assembly/instruments/listed-instruments.ts'
import {
  credentialsOf,
  filesOf,
  type MarketOverride,
  SIMULATED_UID,
  toAccount,
  toSimulatorOptions,
} from '../../assembly/simulator/simulated-exchange.ts'
import { findSlowPrices } from '../../assembly/simulator/simulated-prices.ts'
import type { ExchangeLedger, SimulatedPrices } from '../../views/summary.ts'

export interface EmbeddedExchangeOptions {
  readonly config: DaemonConfig
  readonly settings: EmbeddedSimulatorSettings
  readonly market: MarketOverride
  readonly directory: string
  readonly clock: Clock
  readonly timers: Timers
  readonly onEvent: (event: ServerEvent) => void
  readonly log: LivePricesOptions['log']
}

export interface EmbeddedExchange extends ExchangeAccess {
  readonly endsAt: number | undefined
  /** Market time over real time; a speed other than 1 is for demonstrations. */
  readonly speed: number
  /** The exchange whose live prices are followed has the earlier ones too. */
  readonly past: BeyondCaller | undefined
  pause(): void
  resume(): void
  ledger(): ExchangeLedger
  stop(): Promise<void>
}

export async function startEmbeddedExchange(
  options: EmbeddedExchangeOptions,
): Promise<EmbeddedExchange> {
  const { config, settings, clock, timers, onEvent } = options
  const { startSimulator } = await import('../../simulator/start-simulator.ts')
  const live = openLivePrices(options)
  const simulator = await startSimulator({
    ...toSimulatorOptions(settings, options.market, live),
    instruments: listInstruments(contractsOf(config), clock.now()),
    accounts: [toAccount(config, settings)],
    storeFile: join(options.directory, 'exchange.sqlite'),
    isPaused: true,
    clock,
    timers,
    onEvent,
  })
  const prices = pricesOf(options, simulator.madeUp)
  await live?.open().catch(async (error: unknown) => {
    await simulator.stop()
    throw error
  })
  options.log('info', 'simulator.opened', {
    run: prices.speed === 1 ? 'paper' : 'demonstration',
    prices: prices.source,
    ...(prices.madeUp && { madeUp: prices.madeUp }),
    speed: prices.speed,
    fills: prices.fillModel,
  })
  for (const { symbol, everyMs, advice } of findSlowPrices(simulator.priceStepsMs, config)) {
    options.log('warn', 'prices.slow', {
      symbol,
      everyMs,
      dataAgeMaxMs: config.risk.dataAgeMaxMs,
      advice,
    })
  }
  return {
    baseUrl: simulator.baseUrl,
    credentials: credentialsOf(simulator),
    speed: prices.speed,
    get endsAt() {
      return simulator.endsAt
    },
    past: live?.caller,
    pause: () => simulator.pause(),
    resume: () => simulator.resume(),
    ledger: () => ({ ...readLedger(simulator, SIMULATED_UID, config.account.marginCoin), prices }),
    stop: async () => {
      await live?.close()
      await simulator.stop()
    },
  }
}

function pricesOf(
  { config, settings, market }: EmbeddedExchangeOptions,
  followingSeed: readonly string[],
): SimulatedPrices {
  const files = filesOf(settings, market).map((file) => basename(file))
  const { live } = settings.market
  const made = live === undefined ? `seed ${settings.seed}` : `live ${live.baseUrl}`
  const { fillModel } = settings
  const path = settings.market.candlePath === 'random' ? '' : ` (${settings.market.candlePath})`
  const speed = market.speed ?? settings.speed
  const source = files.length === 0 ? made : `${files.join(', ')}${path}`
  const madeUp = followingSeed.filter((symbol) => Object.hasOwn(config.instruments, symbol))
  return { source, ...(madeUp.length > 0 && { madeUp }), speed, fillModel }
}

function openLivePrices({
  config,
  settings,
  market,
  clock,
  timers,
  log,
}: EmbeddedExchangeOptions): LivePrices | undefined {
  const { live } = settings.market
  if (live === undefined || market.files.length > 0) return undefined
  const proxyFor = loadProxies(config)
  return new LivePrices({
    ...live,
    proxyFor,
    productType: config.account.productType,
    clock,
    timers,
    log,
  })
}

export function readLedger(
  simulator: Pick<RunningSimulator, 'ledger'>,
  uid: string,
  marginCoin: string,
): ExchangeLedger {
  const { coins, positions, counts, openOrders } = simulator.ledger(uid)
  const coin = coins.find((one) => one.marginCoin === marginCoin)
  const others = coins.filter((one) => one.marginCoin !== marginCoin && Number(one.fees) !== 0)
  const unrealised = sumDecimals(positions.map((position) => decimal(position.unrealised)))
  return {
    balance: coin?.balance ?? '0',
    fills: counts.fills,
    openOrders: openOrders.length,
    fees: coin?.fees ?? '0',
    otherFees: Object.fromEntries(others.map((one) => [one.marginCoin, one.fees])),
    realisedProfit: coin?.realisedProfit ?? '0',
    unrealisedProfit: unrealised.toString(),
    funding: coin?.funding ?? '0',
    marks: Object.fromEntries(positions.map((one) => [one.symbol, Number(one.markPrice)])),
    positions: Object.fromEntries(
      positions.map(({ symbol, holdSide, size }) => [`${symbol} ${holdSide}`, size]),
    ),
  }
}

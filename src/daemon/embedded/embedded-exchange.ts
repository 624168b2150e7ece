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
import type { Answer } from '../../domain/answer.ts'
import type { LogEvent } from '../../domain/log-events.ts'
import { type TickerColumn, TickerTable } from '../../domain/ticker-table.ts'
import { ExchangeClock } from '../../exchange/clock/exchange-clock.ts'
import { ExchangeClient } from '../../exchange/exchange-client.ts'
import { Failure } from '../../lib/failure.ts'
import type { ProxyFor } from '../../lib/net/proxy.ts'
import type { ProductType } from '../../domain/instrument.ts'
import type { LiveSource, LiveTicker } from '../../simulator/market/live/live-market.ts'
import type { LogLevel } from '../../logging/logger.ts'

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

export interface LivePricesOptions {
  readonly baseUrl: string
  readonly pollMs: number
  readonly proxyFor?: ProxyFor | undefined
  readonly productType: ProductType
  readonly clock: Clock
  readonly timers: Timers
  readonly log: (
    level: LogLevel,
    event: LogEvent,
    fields: Readonly<Record<string, unknown>>,
  ) => void
}

const REQUEST_MS_MAX = 5000
const ANSWER_BYTES_MAX = 8 * 1024 * 1024
/** Rows older than this are old at the source, and not shown as new. */
const ROW_AGE_MS_MAX = 5000

/**
 * Trades at another exchange's public tickers, read without keys.
 *
 *     new ──open()──► following ──close()──► closed
 *
 * In an outage, logged once, prices stand still and age.
 */
export class LivePrices implements LiveSource {
  readonly name: string
  readonly #options: LivePricesOptions
  readonly #client: ExchangeClient
  readonly #table = new TickerTable()
  #hear: Parameters<LiveSource['follow']>[0] = () => {}
  #cancel: () => void = () => {}
  #isClosed = false
  #missingSince: number | undefined

  constructor(options: LivePricesOptions) {
    const { baseUrl, clock, timers } = options
    this.name = baseUrl
    this.#options = options
    this.#client = new ExchangeClient({
      baseUrl,
      clock,
      timers,
      proxyFor: options.proxyFor,
      positionMode: 'one_way_mode',
      offset: new ExchangeClock(),
      requestTimeoutMs: REQUEST_MS_MAX,
      answerBytesMax: ANSWER_BYTES_MAX,
      locale: 'en-US',
    })
  }

  get caller(): BeyondCaller {
    return this.#client
  }

  follow(hear: Parameters<LiveSource['follow']>[0]): void {
    this.#hear = hear
  }

  /** Reads once, and then every `pollMs`. @throws Failure LIVE_PRICES_UNREACHABLE */
  async open(): Promise<void> {
    const answer = await this.#read()
    if (answer.kind !== 'accepted') {
      await this.close()
      throw new Failure({
        code: 'LIVE_PRICES_UNREACHABLE',
        sentence: 'the exchange whose prices are to be followed does not show them',
        facts: { url: this.name, problem: problemOf(answer) },
        hint: 'check simulator.market.live.baseUrl and the connection',
      })
    }
    this.#show(answer.data, answer)
    this.#readLater()
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#cancel()
    await this.#client.close()
  }

  #readLater(): void {
    if (this.#isClosed) return
    this.#cancel = this.#options.timers.after(this.#options.pollMs, () => {
      void this.#poll()
    })
  }

  async #poll(): Promise<void> {
    const answer = await this.#read()
    if (this.#isClosed) return
    if (answer.kind === 'accepted') this.#show(answer.data, answer)
    else this.#sayMissing(problemOf(answer))
    this.#readLater()
  }

  #read(): Promise<Answer<TickerTable>> {
    return this.#client.readTickers(this.#table, this.#options.productType)
  }

  #show(
    table: TickerTable,
    { receivedAt, requestTime }: { readonly receivedAt: number; readonly requestTime?: number },
  ): void {
    if (this.#missingSince !== undefined) {
      this.#options.log('info', 'prices.back', {
        url: this.name,
        afterMs: receivedAt - this.#missingSince,
      })
      this.#missingSince = undefined
    }
    const now = requestTime ?? receivedAt
    const tickers = table.symbols.map((symbol) => toLiveTicker(table, symbol))
    const isFresh = ({ symbol }: LiveTicker) =>
      now - (table.columns.ts[table.rowOf(symbol)] as number) <= ROW_AGE_MS_MAX
    this.#hear(tickers.filter(isFresh), receivedAt)
  }

  #sayMissing(reason: string): void {
    if (this.#missingSince !== undefined) return
    this.#missingSince = this.#options.clock.now()
    this.#options.log('warn', 'prices.missing', { url: this.name, reason })
  }
}

function problemOf(answer: Exclude<Answer<unknown>, { readonly kind: 'accepted' }>): string {
  return `${answer.code} ${answer.message}`
}

/** An unreadable row leaves its market without prices; the others have theirs (MKT4). */
function toLiveTicker(table: TickerTable, symbol: string): LiveTicker {
  const row = table.rowOf(symbol)
  const valueOf = (column: TickerColumn): number => table.columns[column][row] ?? Number.NaN
  return {
    symbol,
    bid: valueOf('bidPr'),
    ask: valueOf('askPr'),
    bidSize: valueOf('bidSz'),
    askSize: valueOf('askSz'),
    last: valueOf('lastPr'),
    mark: undefined,
    fundingRate: valueOf('fundingRate'),
  }
}

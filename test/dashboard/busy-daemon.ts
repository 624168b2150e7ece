import type { Controlled } from '../../src/control/controlled.ts'
import {
  CANDLE_INTERVALS_MS,
  type ClosedTradesView,
  type JournalRowView,
  type KeptCurveView,
  type StoryView,
} from '../../src/control/detail-views.ts'
import { EventHistory } from '../../src/control/event-history.ts'
import type { WhatIfView } from '../../src/control/what-if-view.ts'
import type { AccountStatusView, FillView, OrderView, ProfitView } from '../../src/control/views.ts'
import type {
  ReadingData,
  BackgroundReadings,
} from '../../src/daemon/explain/background-readings.ts'
import { makeOrderView } from '../support/made-order-view.ts'

const INSTRUMENTS = 200
const JOURNAL = { run: 3, sequence: 1234 }
const ORDERS = 1000
const STRATEGIES = 20
const FILLS = 500
const TRADES = 80
const START_AT = 1_780_000_000_000

const PRECISION = { tickSize: '0.1', lotSize: '0.001', minSize: '0.001', minNotional: '5' }

/** Looks like a daemon with 200 instruments and 1,000 orders of which everything moves; it trades nothing. */
export class BusyDaemon {
  readonly events = new EventHistory(START_AT * 1000)
  statusReads = 0
  /** What its configuration would say. */
  readonly config: ReadingData['config'] = {
    account: {
      productType: 'USDT-FUTURES',
      marginCoin: 'USDT',
      marginMode: 'crossed',
      positionMode: 'one_way_mode',
    } as ReadingData['config']['account'],
    instruments: Object.fromEntries(
      Array.from({ length: INSTRUMENTS }, (_, index) => [`COIN${index}USDT`, PRECISION]),
    ),
    calendar: { timezone: 'UTC' } as ReadingData['config']['calendar'],
  }
  /** Of a journal on disk; absent, there is nothing in it. */
  readings: Pick<BackgroundReadings, 'ask'> | undefined
  #step = 0
  readonly #symbols = Array.from({ length: INSTRUMENTS }, (_, index) => `COIN${index}USDT`)
  readonly #strategies = Array.from({ length: STRATEGIES }, (_, index) => `strategy-${index}`)
  readonly #orders: OrderView[] = Array.from({ length: ORDERS }, (_, index) => this.#order(index))

  /** Prices and profits move, and something happened. */
  move(): void {
    this.#step += 1
    const { symbol, clientOid, strategy } = this.#orders[this.#step % ORDERS] ?? this.#order(0)
    const fields = {
      clientOid,
      strategy,
      symbol,
      side: 'buy',
      price: '100.5',
      size: '0.01',
      fee: '0.001',
    }
    this.events.add({ at: START_AT + this.#step, level: 'info', event: 'order.fill', fields })
  }

  /** Of the last event. */
  get lastClientOid(): string {
    return this.#orders[this.#step % ORDERS]?.clientOid ?? ''
  }

  get controlled(): Controlled {
    return {
      events: this.events,
      status: () => this.#status(),
      planCommand: () => ({ changes: [], notes: [] }),
      universes: () => [],
      positions: () => [],
      orders: (symbol) =>
        this.#orders.filter((order) => symbol === undefined || order.symbol === symbol),
      fills: (limit, symbol) =>
        Array.from({ length: FILLS }, (_, index) => this.#fill(index))
          .filter((fill) => symbol === undefined || fill.symbol === symbol)
          .slice(0, limit),
      journalFills: () => Promise.resolve({ journal: JOURNAL, fills: [] }),
      journalProfit: () => Promise.resolve({ journal: JOURNAL, rows: [], uncounted: '' }),
      trades: ({ limit }) =>
        Promise.resolve({
          journal: JOURNAL,
          trades: Array.from({ length: TRADES }, (_, index) => tradeOf(index)).slice(-limit),
          unexplained: [],
        }),
      candles: (_, intervalMs) => this.#candles(intervalMs),
      curves: () => this.#curves(),
      plots: () => Promise.resolve([]),
      keptCurve: () => Promise.resolve(KEPT_CURVE),
      whatIf: () => Promise.resolve([whatIfOf(this.#step)]),
      instrument: (symbol) => ({
        symbol,
        tickSize: '0.1',
        lotSize: '0.001',
        marginCoin: 'USDT',
        bid: 100.4,
        ask: 100.5,
        last: 100.4,
        phase: 'idle',
        waits: [],
        displaced: [],
      }),
      denials: () => ({}),
      fleet: () => undefined,
      tryReload: () => undefined,
      explain: async (query) =>
        ((await this.readings?.ask({ kind: 'explain', query })) ?? []) as readonly StoryView[],
      journal: async (query) =>
        ((await this.readings?.ask({ kind: 'journal', query })) ?? []) as readonly JournalRowView[],
      backtests: () => Promise.resolve([]),
      readiness: () => ({ isReady: true, checks: {} }),
      metrics: () => '',
      command: ({ requestId }) => {
        const nothing = { isObeyed: false, held: [], lifted: [], stillHeld: {} }
        return { answer: { requestId, text: 'nothing here', ...nothing } }
      },
    }
  }

  #status(): ReturnType<Controlled['status']> {
    this.statusReads += 1
    return {
      name: 'busy',
      version: '0',
      environment: 'simulator',
      speed: 1,
      isReadOnly: true,
      exchange: 'none',
      configOption: '',
      pid: 1,
      processStartedAt: START_AT,
      startedAt: START_AT,
      now: START_AT + this.#step,
      accounts: [this.#account()],
      off: [],
    }
  }

  #account(): AccountStatusView {
    const ages = Object.fromEntries(
      this.#symbols.map((symbol, index) => [symbol, (this.#step + index) % 90]),
    )
    const profits = (names: readonly string[]) =>
      Object.fromEntries(names.map((name) => [name, this.#profit()]))
    return {
      name: 'busy',
      journal: JOURNAL,
      coin: 'USDT',
      phase: 'running',
      mode: 'active',
      isTrading: true,
      hindrances: [],
      warnings: [],
      waits: [],
      pauses: [],
      restrictions: [],
      kill: null,
      losses: [],
      worstCase: null,
      isLossLimited: false,
      disputes: [],
      unattended: [],
      peak: null,
      drawdown: null,
      equityBefore: { day: null, week: null },
      unknownSince: null,
      equity: String(1e5 + this.#step),
      ages: {
        tickersMs: ages,
        positionsMs: ages,
        fillsMs: this.#step % 200,
      },
      limits: {
        dataAgeMaxMs: 2e3,
        accountAgeMaxMs: 6e4,
      },
      clock: {
        isSynchronised: true,
        offsetMs: 0,
        publicMs: null,
        machineMs: 0,
      },
      positions: this.#symbols.map((symbol, index) => ({
        journal: JOURNAL,
        symbol,
        side: 'long',
        coin: 'USDT',
        size: '0.5',
        entryPrice: 100,
        markPrice: 100 + ((this.#step + index) % 9),
        unrealisedProfit: String((this.#step + index) % 9),
        liquidationPrice: null,
        keptByExchange: null,
        liquidation: {
          ourPrice: 93,
          distance: 0.03 + 0.06 * (index % 4),
          moves: index % 3 === 0 ? null : 4 * (index % 4) + 1.5,
          trust: index % 4 === 1 ? 'disputed' : 'agreed',
          ratio: 0.2 - 0.04 * (index % 4),
          statedRatio: null,
          ratioTrust: 'ours',
        },
        readAgeMs: 5,
        entryFrom: 'fills',
        strategies: {},
      })),
      openOrders: { live: ORDERS },
      profit: {
        today: this.#profit(),
        week: this.#profit(),
        total: this.#profit(),
        strategies: profits(this.#strategies),
        instruments: profits(this.#symbols),
      },
      limiter: [
        {
          endpoint: 'tickers',
          limit: '20 in 1000 ms',
          made: this.#step,
          usedShare: 0.5,
          waiting: 0,
          waitedMsP99: 1,
          rateLimited: 0,
        },
      ],
      strategies: this.#strategies.map((id) => ({
        id,
        mode: 'active',
        symbols: this.#symbols,
        openOrders: 50,
        wants: this.#symbols.map((symbol) => ({ symbol, what: '0', since: START_AT })),
      })),
    }
  }

  #profit(): ProfitView {
    const net = String(this.#step / 100)
    const fills = this.#step
    return {
      fills,
      net,
      netWithUnrealised: net,
      realised: net,
      fees: '1',
      funding: '0',
      unrealised: '0',
      uncounted: null,
    }
  }

  #order(index: number): OrderView {
    return makeOrderView({
      clientOid: `order-${index}`,
      orderId: `${index}`,
      strategy: `strategy-${index % STRATEGIES}`,
      symbol: `COIN${index % INSTRUMENTS}USDT`,
      action: index % 2 === 0 ? 'openLong' : 'openShort',
      price: `${90 + (index % 20)}.5`,
      size: '0.01',
      key: `quote:${index}`,
    })
  }

  #fill(index: number): FillView {
    return {
      tradeId: `${this.#step - index}`,
      orderId: `${this.#step - index}`,
      at: START_AT + this.#step - index,
      symbol: 'COIN0USDT',
      side: 'buy',
      strategy: 'strategy-0',
      price: '100.5',
      size: '0.01',
      profit: '0.1',
      fee: '0.001',
      coin: 'USDT',
      isMaker: true,
      clientOid: 'order-0',
      otherFees: '',
      kind: 'trade',
      reason: '',
      tag: '',
    }
  }

  #candles(intervalMs: number = CANDLE_INTERVALS_MS[0]) {
    return Array.from({ length: 360 }, (_, index) => {
      const close = 100 + ((index * 7) % 13) - 6
      return { at: START_AT + (index - 360) * intervalMs, open: 100, high: 108, low: 92, close }
    })
  }

  #curves() {
    const at = Array.from({ length: 1200 }, (_, index) => START_AT + index * 1000)
    const values = at.map((_, index) => 100_000 + (index % 40) + this.#step / 100)
    const strategies = Object.fromEntries(this.#strategies.map((id) => [id, values]))
    return { peak: 100_000, at, netWithUnrealised: values, equity: values, strategies }
  }
}

/** The equity of a week, by hour, as the journal keeps it. */
const KEPT_CURVE: KeptCurveView = {
  at: Array.from({ length: 168 }, (_, hour) => START_AT + (hour - 168) * 3_600_000),
  equity: Array.from({ length: 168 }, (_, hour) => 99_000 + ((hour * 37) % 500)),
  netWithUnrealised: Array.from({ length: 168 }, (_, hour) => (hour * 37) % 500),
  peak: Array.from({ length: 168 }, () => 99_600),
}

function tradeOf(index: number): ClosedTradesView['trades'][number] {
  const net = ((index * 37) % 21) - 8.125
  const openedAt = START_AT + index * 60_000
  return {
    strategyId: `strategy-${index % STRATEGIES}`,
    symbol: `COIN${index}USDT`,
    side: index % 3 === 0 ? 'short' : 'long',
    openedAt,
    closedAt: openedAt + (1 + index) * 47_000,
    size: '0.125',
    entryPrice: '100.5',
    exitPrice: '101.25',
    gross: String(net + 0.25),
    fees: '0.25',
    otherFees: {},
    funding: '0',
    net: String(net),
    coin: 'USDT',
    share: net / 12.5,
    fills: 4,
    reason: index % 4 === 0 ? 'takeProfit' : 'order',
    entryTag: index % 2 === 0 ? 'breakout' : '',
    exitTag: '',
    uncounted: '',
  }
}

/** Ladders below and above a long position: falls cost more with them, rises bring less. */
function whatIfOf(step: number): WhatIfView {
  const moves = Array.from({ length: 61 }, (_, index) => (index - 30) / 100)
  const equity = (move: number) => 100_000 + step / 100 + 420_000 * move
  const outcome = {
    equity: '58000',
    change: '-42000',
    need: '1700',
    free: '56300',
    marginRatio: 0.03,
  }
  return {
    name: 'busy',
    coin: 'USDT',
    equity: String(1e5 + step / 100),
    prices: {},
    notCounted: [],
    scenario: {
      moves: {},
      fill: 'reached',
      filled: 0,
      realised: '0',
      fees: '0',
      funding: '0',
      ...outcome,
      isLiquidated: false,
      liquidation: null,
      positions: [],
    },
    rows: [
      {
        move: -0.1,
        ...outcome,
        isLiquidated: false,
      },
    ],
    curve: {
      moves,
      none: moves.map(equity),
      reached: moves.map((move) => equity(move) - 9e5 * move * move),
      liquidations: {
        none: [-0.235],
        reached: [-0.174],
      },
    },
  }
}

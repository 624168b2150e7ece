// What cancel-alls cost: the real core in virtual time against the simulator, on recorded prices. A cancel-all
// takes wanted orders with it, so each run says for how long orders rested that nobody wanted, and for how long
// orders were missing that somebody did. `npm run bench:cancels -- --data DIR [--minutes 10] [--patience MS]`,
// where DIR holds the files that `DATA` names. --patience is unwantedMsMax.
//
// Three strategies: `recentre`, a narrow grid that is often built anew round the price; `shared`, the same beside
// a wide grid that stands still and loses its orders to the other's cancel-alls; `follow`, a ladder that follows
// the price, so that one rung of many is unwanted at a time.

import { parseArgs } from 'node:util'
import { type Instrument } from '../src/domain/instrument.ts'
import { openLots, type Order } from '../src/domain/order.ts'
import { tradesAs } from '../src/domain/order.ts'
import { type StrategyId, toStrategyId } from '../src/domain/ids.ts'
import { type EngineSettings, type StrategySettings } from '../src/engine/settings.ts'
import { decimal } from '../src/lib/decimal.ts'
import { toMarketInstrument } from '../src/simulator/futures/instruments/instruments.ts'
import { loadRecording } from '../src/prices/load-recording.ts'
import { RecordedMarket } from '../src/simulator/market/recorded/recorded-market.ts'
import { type Recording } from '../src/prices/recording.ts'
import { defineStrategy, type QuoteLevel, type Strategy, z } from '../src/strategy/contract.ts'
import grid from '../strategies/grid.ts'
import { VirtualExchange } from '../test/support/virtual/virtual-exchange.ts'
import { VirtualFaults } from '../test/support/faults/virtual-faults.ts'
import { VirtualNetwork } from '../test/support/virtual/virtual-network.ts'
import { VirtualProcess } from '../test/support/world/virtual-process.ts'
import { VirtualTime } from '../src/backtest/virtual-time.ts'
import { makeLimits } from '../test/support/made-limits.ts'

const START_AT = Date.UTC(2025, 5, 2, 6)
const LOOK_MS = 100
const SIZE = '0.1'
const DATA = {
  candles: ['BTCUSDT-perp-1m-2025-05-29_06-19.csv.gz', 'ETHUSDT-perp-1m-2025-05-29_06-19.csv.gz'],
  ticks: [
    'BTCUSDT-spot-ticks-100ms-2024-08-08_10min.csv.gz',
    'ETHUSDT-spot-ticks-100ms-2024-08-08_10min.csv.gz',
  ],
}
type DataKind = keyof typeof DATA

const { values } = parseArgs({
  options: {
    data: { type: 'string', default: '.' },
    minutes: { type: 'string', default: '10' },
    patience: { type: 'string', default: '15000' },
    instruments: { type: 'string', default: '2,10' },
    strategies: { type: 'string', default: 'recentre,shared,follow' },
    exclusive: { type: 'string', default: 'false,true' },
    json: { type: 'boolean', default: false },
  },
})

/** `grid` with params that a run of the bench has fixed. */
function fixedGrid(params: Readonly<Record<string, unknown>>): Strategy {
  return defineStrategy({
    name: 'grid',
    params: z.strictObject({}),
    initialState: () => grid.initialState(params) as { ladders: Record<string, never> },
    decide: (snapshot, { state, log }) => grid.decide(snapshot, { params, state, log }) as never,
  })
}

/** Five rungs on each side, on prices that stand still: the ladder moves by a rung when the price does. */
const follow = defineStrategy({
  name: 'follow',
  params: z.strictObject({}),
  initialState: () => ({ spacing: {} as Record<string, number> }),
  decide(snapshot, { state }) {
    const spacing = { ...state.spacing }
    const intents = snapshot.instruments
      .filter((market) => market.hasPrices)
      .map((market) => {
        const step = (spacing[market.symbol] ??= Math.max(1, Math.round(market.bidTicks * 0.0003)))
        const below = Math.floor(market.bidTicks / step)
        const levels = [0, 1, 2, 3, 4].flatMap((rung): QuoteLevel[] => [
          { side: 'buy', ticks: (below - rung) * step, lots: market.lots(SIZE) },
          { side: 'sell', ticks: (below + 1 + rung) * step, lots: market.lots(SIZE) },
        ])
        return market.quote(
          levels.filter(({ side, ticks }) =>
            side === 'buy' ? ticks < market.askTicks : ticks > market.bidTicks,
          ),
        )
      })
    return { intents, state: { spacing } }
  },
})

const narrow = fixedGrid({ spacingBps: 3, levels: 3, size: SIZE, recentreAfterLevels: 1 })
const STRATEGIES: Readonly<Record<string, Readonly<Record<string, Strategy>>>> = {
  recentre: { narrow },
  shared: { narrow, wide: fixedGrid({ spacingBps: 20, levels: 5, size: SIZE }) },
  follow: { follow },
}

/** Of one recording a stretch that begins at a row and lasts so long, under another name. */
function stretchOf(
  recording: Recording,
  symbol: string,
  { fromMs, lengthMs }: { fromMs: number; lengthMs: number },
): Recording {
  const { at } = recording.rows
  const first = at.findIndex((one) => one >= (at[0] ?? 0) + fromMs)
  const end = at.findIndex((one) => one > (at[first] ?? 0) + lengthMs)
  const cut = Object.entries(recording.rows).map(([name, column]) => [
    name,
    typeof column === 'string' ? column : column.slice(first, end < 0 ? undefined : end),
  ])
  const rows = Object.fromEntries(cut) as Recording['rows']
  rows.at.set(rows.at.map((one) => one - (at[first] ?? 0) + START_AT))
  return { ...recording, symbol, rows }
}

interface Run {
  readonly data: DataKind
  readonly strategy: string
  readonly instruments: number
  readonly exclusive: boolean
}

async function measure({
  data,
  strategy,
  instruments,
  exclusive,
}: Run): Promise<Record<string, unknown>> {
  const files = await Promise.all(DATA[data].map((file) => loadRecording(`${values.data}/${file}`)))
  const lengthMs =
    (data === 'ticks' ? Math.min(5, Number(values.minutes)) : Number(values.minutes)) * 60_000
  const symbols = [
    'BTCUSDT',
    'ETHUSDT',
    ...Array.from('CDEFGHIJ', (letter) => `${letter}USDT`),
  ].slice(0, instruments)
  // Stretches that do not overlap, of two hours each; the ten minutes of ticks have to overlap.
  const stepMs = data === 'ticks' ? 60_000 : 7_200_000
  const recordings = symbols.map((symbol, index) =>
    stretchOf(files[index % 2] as Recording, symbol, {
      fromMs: Math.floor(index / 2) * stepMs,
      lengthMs,
    }),
  )
  const time = new VirtualTime(START_AT)
  const faults = new VirtualFaults({ seed: 'bench', rates: {}, script: undefined })
  const exchange = new VirtualExchange({
    time,
    faults,
    seed: 'bench',
    startAt: START_AT,
    symbols,
    positionMode: 'one_way_mode',
    settings: {},
    toleranceMs: 30_000,
    balance: '10000000',
    leverage: 20,
    moveTicks: 1,
    market: (listed) =>
      new RecordedMarket({
        recordings,
        speed: 1,
        startAt: START_AT,
        instruments: listed.map(toMarketInstrument),
        fallback: { seed: 1 },
      }),
  })
  const counts = { cancels: 0, ofProduct: 0, batches: 0 }
  const process: VirtualProcess = new VirtualProcess({
    time,
    exchange,
    faults,
    network: new VirtualNetwork({
      time,
      faults,
      requestTimeoutMs: 5e3,
      lateMsMax: 1e3,
      refusalsAheadMs: () => 0,
    }),
    settings: buildSettings(exchange, {
      symbols,
      strategies: Object.keys(STRATEGIES[strategy] ?? {}),
      exclusive,
    }),
    strategies: new Map(
      Object.entries(STRATEGIES[strategy] ?? {}).map(([id, one]) => [toStrategyId(id), one]),
    ),
    polling: { tickersMs: 250, fillsMs: 500, positionsMs: 1000, timeMs: 100 },
    pageFills: 100,
    clocks: [{ skewMs: 0, driftPpm: 0 }],
    onStop: 'leave',
    isKilled: () => false,
    isDiskFull: () => false,
    watchers: [
      {
        onRecord: (record) => {
          if (record.kind === 'send') counts.batches += 1
          if (record.kind !== 'cancel') return
          counts.cancels += 1
          if (record.symbols.length > 1) counts.ofProduct += 1
        },
      },
    ],
  })
  const sums = { unwanted: 0, unwantedCoin: 0, missing: 0, missingCoin: 0 }
  const look = (): void => {
    addWrongs(process, exchange, sums)
    time.after(LOOK_MS, look)
  }
  process.start()
  time.after(LOOK_MS, look)
  time.runUntil(START_AT + lengthMs)
  return summarise({ data, strategy, instruments, exclusive }, { exchange, counts, sums })
}

/** Adds what rests unwanted and what is missing now, for the time since the last look: order-seconds, coin-seconds. */
function addWrongs(
  { engine }: VirtualProcess,
  { truth, instruments }: VirtualExchange,
  sums: Record<string, number>,
): void {
  if (!engine) return
  const priceOf = new Map(
    instruments.map(({ symbol, tickFloat, lotFloat }) => [symbol, tickFloat * lotFloat]),
  )
  const add = (name: string, symbol: string, ticksTimesLots: number): void => {
    sums[name] = (sums[name] ?? 0) + LOOK_MS / 1000
    sums[`${name}Coin`] =
      (sums[`${name}Coin`] ?? 0) + (ticksTimesLots * (priceOf.get(symbol) ?? 0) * LOOK_MS) / 1000
  }
  const resting = new Map<string, Order[]>()
  for (const { clientOid } of truth.open) {
    const order = engine.book.orders.get(clientOid as Order['terms']['clientOid'])
    if (!order) continue
    const { strategyId, symbol, action, ticks, lots } = order.terms
    const rung = [strategyId, symbol, tradesAs(action), ticks, lots].join('|')
    resting.set(rung, [...(resting.get(rung) ?? []), order])
  }
  for (const [pair, levels] of engine.book.quotes) {
    for (const { side, ticks, lots } of levels) {
      if (!resting.get([pair, side, ticks, lots].join('|'))?.pop())
        add('missing', pair.split('|')[1] ?? '', ticks * lots)
    }
  }
  for (const order of [...resting.values()].flat()) {
    add('unwanted', order.terms.symbol, (order.terms.ticks ?? 0) * openLots(order))
  }
}

function summarise(
  run: Run,
  {
    exchange,
    counts,
    sums,
  }: { exchange: VirtualExchange; counts: Record<string, number>; sums: Record<string, number> },
): Record<string, unknown> {
  const { coins, positions, counts: orders } = exchange.ledger()
  const money = coins.reduce((sum, coin) => sum + Number(coin.balance) - Number(coin.opening), 0)
  const profit = positions.reduce((sum, { unrealised }) => sum + Number(unrealised), money)
  const rounded = Object.fromEntries(
    Object.entries(sums).map(([name, sum]) => [name, Math.round(sum)]),
  )
  return {
    ...run,
    ...counts,
    orders: orders.ordersAccepted,
    ...rounded,
    fills: orders.fills,
    profit: Math.round(profit),
  }
}

function buildSettings(
  exchange: VirtualExchange,
  {
    symbols,
    strategies,
    exclusive,
  }: { symbols: readonly string[]; strategies: readonly string[]; exclusive: boolean },
): EngineSettings {
  const limits = new Map(
    symbols.map((symbol) => [symbol, { positionMax: 1e6, orderSizeMax: 1000, openOrdersMax: 100 }]),
  )
  return {
    salt: 'salt',
    version: '0',
    environment: 'simulator',
    configHash: '0',
    productType: 'USDT-FUTURES',
    positionMode: 'one_way_mode',
    marginMode: 'crossed',
    instruments: new Map(
      exchange.instruments.map((one): [string, Instrument] => [
        one.symbol,
        {
          symbol: one.symbol,
          productType: one.productType,
          marginCoin: one.marginCoin,
          tick: one.priceGrid,
          lot: one.sizeGrid,
          lotsMin: one.lotsMin,
          notionalMin: decimal(one.notionalMin),
        },
      ]),
    ),
    strategies: new Map(
      strategies.map((id): [StrategyId, StrategySettings] => [
        toStrategyId(id),
        { id: toStrategyId(id), symbols, feeds: new Map(), limits },
      ]),
    ),
    limits: makeLimits({ dataAgeMaxMs: 1500, openOrdersMax: 400 }),
    isExclusive: exclusive,
    execution: {
      batchOrdersMax: 50,
      fillVisibilityMs: 3000,
      matchingLagMs: 150,
      acceptanceWindowMs: 35_000,
      unwantedMsMax: Number(values.patience),
      displacedWithinMs: 10_000,
      takerCollarRatio: 0.002,
      crossedToleranceMs: 5000,
      stopTimeoutMs: 60_000,
    },
    foreignFills: 'halt',
    onRestart: 'cancel',
  }
}

const rows: Record<string, unknown>[] = []
for (const data of ['candles', 'ticks'] as const)
  for (const strategy of values.strategies.split(','))
    for (const instruments of values.instruments.split(',').map(Number))
      for (const exclusive of values.exclusive.split(',').map((one) => one === 'true')) {
        rows.push(await measure({ data, strategy, instruments, exclusive }))
        if (values.json) console.log(JSON.stringify(rows.at(-1)))
      }
if (!values.json) console.table(rows)

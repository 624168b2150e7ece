// What the approval of an order costs while 400 orders rest, with `risk.survives` and without: the risk checks of one more
// order alone, on a core in which an order of the instrument has just changed, as after every order that was sent, and on
// one in which nothing has. The lines take turns of a hundred approvals. Microseconds of CPU: the median of the rounds, and
// the quartiles; then how many times as much as the line without in the same round.
// `npm run bench:worst-case -- [--rounds 400] [--orders 400]`

import { parseArgs } from 'node:util'
import { type ClientOid } from '../src/domain/ids.ts'
import { type OrderIntent } from '../src/domain/intent.ts'
import { type SurvivalSettings } from '../src/domain/worst-case.ts'
import { approveOrders } from '../src/engine/orders/approve-orders.ts'
import { parseCore } from '../src/engine/replay/core-image.ts'
import { type EngineSettings } from '../src/engine/settings.ts'
import { type Core } from '../src/engine/state/core.ts'
import { storeOrder } from '../src/engine/book/book.ts'
import { forgetTotals } from '../src/engine/state/totals.ts'
import { decimal } from '../src/lib/decimal.ts'
import { mutable } from '../src/lib/mutable.ts'
import { EngineBench, STRATEGY, SYMBOL } from '../test/engine/engine-bench.ts'
import { madeInstrument } from '../test/support/market-moment.ts'

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '400' },
    orders: { type: 'string', default: '400' },
  },
})
const APPROVALS = 100
/** The code is compiled meanwhile. */
const ROUNDS_BEFORE = 30
const INSTRUMENTS = ['BTCUSDT', 'ETHUSDT', 'SOLUSDT', 'XRPUSDT']
const MOVES = new Map(INSTRUMENTS.map((symbol) => [symbol, 0.12]))
const SURVIVES = { moves: MOVES, jointMoves: MOVES }

const LINES: readonly (readonly [string, SurvivalSettings | undefined])[] = [
  ['without', undefined],
  ['gap: true', { ...SURVIVES, isGap: true }],
  ['gap: false', { ...SURVIVES, isGap: false }],
]

/** An account that holds a position and has so many orders on each instrument but the last one. */
function createCore(survives: SurvivalSettings | undefined): Core {
  const { strategies, limits } = new EngineBench().settings
  const [strategy] = strategies.values()
  const limit = { positionMax: 1e6, orderSizeMax: 1e6, openOrdersMax: 1000 }
  const settings: Partial<EngineSettings> = {
    capital: decimal('1000000'),
    instruments: new Map(INSTRUMENTS.map((symbol) => [symbol, madeInstrument({ symbol })])),
    limits: { ...limits, openOrdersMax: 5000, priceCollarRatio: 0.5 },
    liquidation: {
      rules: new Map(
        INSTRUMENTS.map((symbol) => [
          symbol,
          {
            tiers: [
              { notionalMax: 1e6, rate: 0.004 },
              { notionalMax: 1e9, rate: 0.01 },
            ],
            takerFeeRate: 0.0006,
          },
        ]),
      ),
    },
    ...(strategy && {
      strategies: new Map([
        [
          STRATEGY,
          {
            ...strategy,
            symbols: INSTRUMENTS,
            limits: new Map(INSTRUMENTS.map((symbol) => [symbol, limit])),
          },
        ],
      ]),
    }),
    ...(survives && { survives }),
  }
  const bench = new EngineBench(settings).start()
  bench.buy(100)
  for (const symbol of INSTRUMENTS.slice(0, 2)) {
    const levels = Array.from({ length: Number(values.orders) }, (_, index) => ({
      side: index % 2 === 0 ? ('buy' as const) : ('sell' as const),
      ticks: index % 2 === 0 ? 99_900 - index * 10 : 100_100 + index * 10,
      lots: 2,
    }))
    bench.decide({ kind: 'quote', symbol, levels })
    while (bench.take('askGrant').length > 0) bench.accept(bench.grantBatch())
  }
  const core = parseCore(bench.engine.write())
  const open = core.book.open.get(SYMBOL)?.size
  if (open !== Number(values.orders)) throw new Error(`${open} orders are open`)
  return core
}

const intent: OrderIntent = {
  strategyId: STRATEGY,
  symbol: SYMBOL,
  purpose: 'quote',
  key: 'one more',
  action: 'openLong',
  lots: 2,
  ticks: 90_000,
  force: 'gtc',
  takeProfitTicks: undefined,
  stopLossTicks: undefined,
  deadlineAt: Number.MAX_SAFE_INTEGER,
}

/** CPU microseconds of one approval, with the change before it. */
function measure(core: Core, hasChanged: boolean): number {
  const orders = [...(core.book.open.get(SYMBOL)?.keys() ?? [])]
  const before = process.cpuUsage()
  for (let approval = 0; approval < APPROVALS; approval++) {
    if (hasChanged) changeOrder(core, orders[(approval * 7) % orders.length])
    const { items, denials } = approveOrders(core, SYMBOL, [{ intent }])
    if (items.length !== 1) throw new Error(JSON.stringify(denials))
  }
  const { user, system } = process.cpuUsage(before)
  return (user + system) / APPROVALS
}

/** A fill of one of the orders, or a fill less, as a record would bring it to the book. */
function changeOrder({ book, totals }: Core, clientOid: ClientOid | undefined): void {
  const order = clientOid && book.orders.get(clientOid)
  if (!order) throw new Error('no order is open')
  storeOrder(mutable(book), { ...order, filledLots: 1 - order.filledLots })
  forgetTotals(totals, SYMBOL)
}

const cores = LINES.map(([name, survives]) => ({ name, core: createCore(survives) }))
for (const hasChanged of [true, false]) {
  const figures = cores.map((): number[] => [])
  for (let round = 0; round < Number(values.rounds) + ROUNDS_BEFORE; round++) {
    // Each line is first, second and third equally often.
    for (let place = 0; place < cores.length; place++) {
      const index = (round + place) % cores.length
      const { core } = cores[index] ?? {}
      const us = core ? measure(core, hasChanged) : Number.NaN
      if (round >= ROUNDS_BEFORE) figures[index]?.push(us)
    }
  }
  console.log(hasChanged ? '\nafter a change of one of the orders' : '\nwhile nothing has changed')
  const [base = []] = figures
  for (const [index, { name }] of cores.entries()) {
    const spent = figures[index] ?? []
    const times = spent.map((us, round) => us / (base[round] ?? Number.NaN))
    console.log(`  ${name.padEnd(12)}${showSpread(spent)} us  ${showSpread(times)} times`)
  }
}

function showSpread(figures: readonly number[]): string {
  const sorted = figures.toSorted((one, other) => one - other)
  const at = (share: number): string =>
    (sorted[Math.floor(share * (sorted.length - 1))] ?? Number.NaN).toFixed(2)
  return `${at(0.5).padStart(8)} (${at(0.25)} to ${at(0.75)})`
}

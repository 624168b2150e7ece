// What the approval of an order costs while 400 orders rest, with `risk.survives` and without: the risk checks of one more
// order alone, on a core in which something of the instrument has just changed, as after every order that was sent, and on
// one in which nothing has. The lines take turns; each figure is the median of the rounds, in microseconds of CPU.
// `npm run bench:worst-case -- [--rounds 40] [--orders 400]`

import { parseArgs } from 'node:util'
import { type OrderIntent } from '../src/domain/intent.ts'
import { type SurvivalSettings } from '../src/domain/worst-case.ts'
import { approveOrders } from '../src/engine/orders/approve-orders.ts'
import { parseCore } from '../src/engine/replay/core-image.ts'
import { type EngineSettings } from '../src/engine/settings.ts'
import { type Core } from '../src/engine/state/core.ts'
import { forgetTotals } from '../src/engine/state/changes.ts'
import { decimal } from '../src/lib/decimal.ts'
import { EngineBench, STRATEGY, SYMBOL } from '../test/engine/engine-bench.ts'
import { madeInstrument } from '../test/support/market-moment.ts'
import { medianOf } from './figures.ts'

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '40' },
    orders: { type: 'string', default: '400' },
  },
})
const APPROVALS = 500
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
  const own = { positionMax: 1e6, orderSizeMax: 1e6, openOrdersMax: 1000 }
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
            limits: new Map(INSTRUMENTS.map((symbol) => [symbol, own])),
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

/** CPU microseconds of one approval. */
function measure(core: Core, hasChanged: boolean): number {
  const before = process.cpuUsage().user
  for (let approval = 0; approval < APPROVALS; approval++) {
    if (hasChanged) forgetTotals(core.totals, SYMBOL)
    const { items, denials } = approveOrders(core, SYMBOL, [{ intent }])
    if (items.length !== 1) throw new Error(JSON.stringify(denials))
  }
  return (process.cpuUsage().user - before) / APPROVALS
}

const cores = LINES.map(([name, survives]) => ({ name, core: createCore(survives) }))
for (const hasChanged of [true, false]) {
  const figures = cores.map((): number[] => [])
  for (let round = 0; round < Number(values.rounds) + 5; round++) {
    for (const [index, { core }] of cores.entries()) {
      const us = measure(core, hasChanged)
      if (round >= 5) figures[index]?.push(us)
    }
  }
  console.log(hasChanged ? '\nafter a change of the instrument' : '\nwhile nothing has changed')
  const [base = Number.NaN] = figures.map(medianOf)
  for (const [index, { name }] of cores.entries()) {
    const us = medianOf(figures[index] ?? [])
    console.log(
      `  ${name.padEnd(12)}${us.toFixed(2).padStart(9)} us${(us / base).toFixed(2).padStart(8)} times`,
    )
  }
}

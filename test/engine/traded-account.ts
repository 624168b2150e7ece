import { type Fill } from '../../src/domain/fill.ts'
import { type StrategyId, toOrderId, toStrategyId } from '../../src/domain/ids.ts'
import { type PositionMode } from '../../src/domain/instrument.ts'
import { type Holding } from '../../src/domain/position.ts'
import { type EngineSettings } from '../../src/engine/settings.ts'
import { EngineBench, refused, STRATEGY, SYMBOL } from './engine-bench.ts'

export const OTHER = toStrategyId('other')

/** A core with two strategies on one instrument. */
export function twoStrategies(
  change: Partial<EngineSettings> = {},
  mode?: PositionMode,
): EngineBench {
  const limits = new Map([[SYMBOL, { positionMax: 1000, orderSizeMax: 100, openOrdersMax: 100 }]])
  const strategies = new Map(
    [STRATEGY, OTHER].map(
      (id) => [id, { id, symbols: [SYMBOL], limits, feeds: new Map() }] as const,
    ),
  )
  return new EngineBench({ strategies, ...change }, mode).start()
}

/** An account at the exchange, and everything that it has shown so far. */
export class TradedAccount {
  readonly bench: EngineBench
  readonly fills: Fill[] = []
  net = 0

  constructor(bench: EngineBench) {
    this.bench = bench
  }

  get holding(): Holding {
    return { longLots: Math.max(0, this.net), shortLots: Math.max(0, -this.net) }
  }

  /** Something was traded; fills are read. */
  trade(side: 'buy' | 'sell', lots: number, change: Partial<Fill> = {}): void {
    this.net += side === 'buy' ? lots : -lots
    const orderId = toOrderId(`7${this.fills.length}`)
    this.fills.push(
      this.bench.fill({ side, lots, orderId, scope: 'taker', ticks: 100_000, ...change }),
    )
    this.readFills()
  }

  readFills(): void {
    this.bench.step({ kind: 'pollDue', what: 'fills' })
    for (const { sinceAt } of this.bench.take('readFills')) {
      const { now } = this.bench
      const reading = { fills: this.fills, sinceAt, requestedAt: now, exchangeTime: now }
      this.bench.step({ kind: 'fillsRead', reading })
    }
  }

  /** Fills and positions are read. */
  look(): void {
    this.bench.step({ kind: 'pollDue', what: 'positions' })
    this.bench.read({ holding: this.holding, fills: this.fills })
  }

  pass(ms: number): void {
    this.bench.pass(ms, { holding: this.holding, fills: this.fills })
  }

  /** The cancel-all is answered that lists what rests of before the start: nothing does. */
  listNothing(): void {
    const { cancelId } = this.bench.grantCancel()
    this.bench.answerCancel(cancelId, refused('22001', 'definite'))
    this.pass(6000)
  }

  /** The strategy wants so many lots, and gets them by one order. */
  reach(id: StrategyId, lots: number): void {
    this.bench.decideAs(id, { kind: 'target', symbol: SYMBOL, lots })
    this.fillNext()
  }

  /** The next batch leaves and is filled whole; returns what it was. */
  fillNext() {
    const batch = this.bench.grantBatch()
    this.bench.accept(batch)
    const terms = batch.clientOids.map((clientOid) => this.bench.book.orders.get(clientOid)?.terms)
    for (const [index, order] of terms.entries()) {
      if (!order) continue
      const side = order.action === 'openLong' || order.action === 'closeShort' ? 'buy' : 'sell'
      this.trade(side, order.lots, { orderId: toOrderId(`${batch.batchId}00${index + 1}`) })
    }
    this.look()
    return terms
  }

  /** What leaves if everything that is asked for is granted. */
  sent() {
    if (this.bench.take('askGrant').every(({ endpoint }) => endpoint !== 'batchPlaceOrder'))
      return []
    this.bench.step({ kind: 'granted', endpoint: 'batchPlaceOrder' })
    const batches = this.bench.take('sendBatch')
    return batches.flatMap(({ batch }) =>
      batch.clientOids.map((clientOid) => this.bench.book.orders.get(clientOid)?.terms),
    )
  }

  events(): readonly string[] {
    return this.bench.take('announce').map(({ event }) => event)
  }
}

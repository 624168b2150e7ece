import { expect, test } from 'vitest'
import type { Order } from '../../../src/domain/order.ts'
import { storeOrder } from '../../../src/engine/book/book.ts'
import { type KeptLadders, laddersOf } from '../../../src/engine/state/totals.ts'
import { mutable } from '../../../src/lib/mutable.ts'
import { createRandom } from '../../../src/lib/random.ts'
import { sumUpTo } from '../../../src/risk/resting-ladder.ts'
import { madeInstrument } from '../../support/market-moment.ts'
import { EngineBench, SYMBOL } from '../engine-bench.ts'

test.each(['one_way_mode', 'hedge_mode'] as const)(
  '[RSK1] orders by price, kept while orders come, fill, end and open again, are those of the book counted anew: %s',
  (mode) => {
    const random = createRandom(`ladders ${mode}`)
    const bench = new EngineBench({}, mode).start()
    const levels = Array.from({ length: 4 }, (_, index) => ({
      side: 'buy' as const,
      ticks: 99_900 - index,
      lots: 20,
    }))
    bench.quote(...levels)
    bench.accept(bench.grantBatch())
    const [model] = [...bench.book.orders.values()]
    if (!model) throw new Error('there is no order')
    const [book, instrument] = [mutable(bench.book), madeInstrument()]
    const kept: KeptLadders = new Map()
    /** Reads the kept ladders of the book, or some built for this question alone. */
    const read = (ladders: KeptLadders): unknown => {
      const { buys, sells } = laddersOf({ book, totals: new Map(), ladders }, instrument)
      return [buys, sells].map((ladder) => {
        sumUpTo(ladder, ladder.prices.ticks.length)
        const { prices, atOnce, sums } = ladder
        const columns = [sums.opening, sums.closing, sums.cost]
        return { prices, atOnce, sums: columns.map((column) => column.slice(0, sums.upTo)) }
      })
    }
    let most = 0
    for (let step = 0; step < 250; step++) {
      for (let change = random.integer(4); change > 0; change--) {
        const orders = [...book.orders.values()]
        const one = orders[random.integer(orders.length)] ?? model
        const kind = random.integer(4)
        if (kind === 0 || orders.length < 10)
          storeOrder(book, { ...one, ...makeOrder(one, random, orders.length) })
        else if (kind === 1)
          storeOrder(book, { ...one, filledLots: random.integer(one.terms.lots + 1) })
        else storeOrder(book, { ...one, state: random.integer(2) === 0 ? 'live' : 'done' })
      }
      if (random.integer(3) === 0) continue
      most = Math.max(most, book.open.get(SYMBOL)?.size ?? 0)
      expect(read(kept)).toEqual(read(new Map()))
    }
    expect(most).toBeGreaterThan(20)
  },
)

function makeOrder(
  { terms }: Order,
  random: ReturnType<typeof createRandom>,
  count: number,
): Partial<Order> {
  const actions = ['openLong', 'closeLong', 'openShort', 'closeShort'] as const
  const { ticks: _, ...rest } = terms
  const isPriced = random.integer(10) > 0
  return {
    state: 'live',
    filledLots: 0,
    orderId: undefined,
    terms: {
      ...rest,
      clientOid: `made-${count}` as typeof terms.clientOid,
      action: actions[random.integer(4)] ?? 'openLong',
      ...(isPriced && { ticks: 99_950 + random.integer(40) }),
      lots: 1 + random.integer(50),
    },
  }
}

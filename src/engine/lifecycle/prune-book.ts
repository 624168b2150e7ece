import { type Book, haveEndedBefore } from '../book/book.ts'
import { type Core, record } from '../state/core.ts'
import { knownThrough, tradesNeededSince } from '../state/readings.ts'
import { notePruned } from '../state/run-state.ts'

/** With this pause a checkpoint has few rows to delete. */
const PRUNE_EVERY_MS = 5000
/**
 * Three rows an order, in the one transaction of an event, take some 15 ms. While more wait they go
 * sooner, at twice the pace at which the exchange takes orders.
 */
const ORDERS_PRUNED_MAX = 100
const PRUNE_MANY_EVERY_MS = 200
/** With more orders the pause is always short: a second of 250 orders is 800 rows. */
const MANY_ORDERS = 5000
const FILLS_NOTED_EVERY_MS = 3_600_000
/** The last fills of an order become readable within seconds. */
const ORDERS_KEPT_MS = 300_000

/**
 * Drops ended orders, and trades that are never read again. Used keys go with their orders, since
 * the journal has them.
 */
export function pruneBook(core: Core): void {
  const { prunedAt } = core.run
  const ordersBefore = core.now - ORDERS_KEPT_MS
  const isMany =
    core.book.orders.size > MANY_ORDERS ||
    haveEndedBefore(core.book.ended, ordersBefore, ORDERS_PRUNED_MAX)
  const everyMs = isMany ? PRUNE_MANY_EVERY_MS : PRUNE_EVERY_MS
  if (prunedAt > 0 && core.now - prunedAt < everyMs) return
  notePruned(core.run, core.now)
  if (prunedAt === 0) return
  const tradesBefore = tradesNeededSince(core)
  const fillsThroughAt = knownThrough(core)
  const isDue = fillsThroughAt - core.book.fillsThroughAt >= FILLS_NOTED_EVERY_MS
  if (!isDue && !hasSomethingOld(core.book, { ordersBefore, tradesBefore })) return
  record(core, {
    kind: 'prune',
    at: core.now,
    ordersBefore,
    ordersMax: ORDERS_PRUNED_MAX,
    tradesBefore,
    fillsThroughAt,
    keysBefore: ordersBefore,
  })
}

/** Trades and calls are kept in the order in which they came. */
function hasSomethingOld(
  { ended, trades, callKeys }: Book,
  { ordersBefore, tradesBefore }: { ordersBefore: number; tradesBefore: number },
): boolean {
  const [filledAt = tradesBefore] = trades.values()
  const [calledAt = ordersBefore] = callKeys.values()
  return filledAt < tradesBefore || calledAt < ordersBefore || haveEndedBefore(ended, ordersBefore)
}

import { type SimulatedExchange } from '../../../src/backtest/direct-exchange.ts'
import { type BatchPlaceRequest } from '../../../src/protocol/futures/batch-place-order.ts'
import { type VirtualExchange } from '../virtual/virtual-exchange.ts'

/** The exchange for one run: reports which of its requests changed something, however late. */
export function watchArrivals(
  exchange: VirtualExchange,
  onArrival: (what: string) => void,
): SimulatedExchange {
  const { truth } = exchange
  return {
    placeBatch(batch) {
      const { orderList } = JSON.parse(batch.body) as BatchPlaceRequest
      const fresh = orderList.flatMap(({ clientOid = '' }) =>
        truth.hasOrder(clientOid) ? [] : clientOid,
      )
      const reply = exchange.placeBatch(batch)
      const made = fresh.find((clientOid) => truth.hasOrder(clientOid))
      if (made !== undefined) onArrival(`an order, ${made},`)
      return reply
    },
    cancelAll(body, signedAt) {
      const reply = exchange.cancelAll(body, signedAt)
      if (reply.ok && reply.data.successList.length > 0) onArrival('a cancel-all')
      return reply
    },
    fillsPage: (query) => exchange.fillsPage(query),
    position: (symbol) => exchange.position(symbol),
    readTickers: (table) => exchange.readTickers(table),
  }
}

import { buildBatchRequest } from '../execution/batch-request.ts'
import { type BatchItem } from '../execution/pack-batch.ts'
import { type Recorded } from '../domain/tickets.ts'
import { type Core, exchangeNow, instrumentOf, record } from './core.ts'
import { type OutgoingBatch } from './effect.ts'
import { type Lane } from './lane.ts'

/**
 * Writes a batch down, bytes and all, before anybody may send it (ORD1). The one place that makes a
 * `Recorded<OutgoingBatch>`.
 */
export function recordSend(core: Core, lane: Lane, items: readonly BatchItem[]): Recorded<OutgoingBatch> {
  const batchId = core.book.batchId + 1
  const orders = items.map((item) => item.terms)
  const body = JSON.stringify(buildBatchRequest(core.settings, instrumentOf(core, lane.symbol), orders))
  record(
    core,
    {
      kind: 'send',
      at: core.now,
      batchId,
      symbol: lane.symbol,
      orders: items.filter((item) => !item.again).map((item) => item.terms),
      again: items.filter((item) => item.again).map((item) => item.terms.clientOid),
      requestAt: exchangeNow(core),
      body,
    },
    true,
  )
  const batch: OutgoingBatch = {
    batchId,
    symbol: lane.symbol,
    clientOids: orders.map((terms) => terms.clientOid),
    body,
    validUntilAt: Math.min(...items.map((item) => item.intent.deadlineAt)),
  }
  return batch as Recorded<OutgoingBatch>
}

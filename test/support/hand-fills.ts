import { type WireFill } from '../../src/protocol/futures/order-fills.ts'
import { sequenceOfId } from '../../src/simulator/core/order.ts'
import { type Reply } from '../../src/simulator/core/reply.ts'
import { type ExchangeTruth, isForeign } from './exchange-truth.ts'

interface FillsPage {
  readonly fillList: WireFill[]
  readonly endId?: string | null | undefined
}

const DOORS = ['WEB', 'ANDROID', 'IOS'] as const

/** Fills of orders by hand show the door that they came in by: the core itself knows that of the API alone. */
export function showHands(reply: Reply<FillsPage>, truth: ExchangeTruth): Reply<FillsPage> {
  if (!reply.ok) return reply
  const fillList = reply.data.fillList.map((row) => {
    const sequence = sequenceOfId('11', row.orderId) ?? 0
    const order = truth.orders.get(String(sequence))
    if (row.enterPointSource !== 'API' || !order || !isForeign(order)) return row
    return { ...row, enterPointSource: DOORS[sequence % DOORS.length] ?? 'WEB' }
  })
  return { ok: true, data: { ...reply.data, fillList } }
}

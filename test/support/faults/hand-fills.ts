import { type FillsPageQuery } from '../../../src/backtest/direct-exchange.ts'
import { fillKey } from '../../../src/domain/fill.ts'
import { type WireFill } from '../../../src/protocol/futures/order-fills.ts'
import { sequenceOfId } from '../../../src/simulator/futures/orders/order.ts'
import { type Reply } from '../../../src/simulator/shared/reply.ts'
import { type ExchangeTruth, isByApi, isForeign, isOdd } from '../virtual/exchange-truth.ts'

interface FillsPage {
  readonly fillList: WireFill[]
  readonly endId?: string | null | undefined
}

/** Removes fills by tradeId from a page, and fills it up with the next ones. */
export function pageWithout(
  unseen: ReadonlySet<string>,
  query: FillsPageQuery,
  read: (query: FillsPageQuery) => Reply<FillsPage>,
): Reply<FillsPage> {
  const reply = read(query)
  const last = reply.ok ? reply.data.fillList.at(-1) : undefined
  if (!reply.ok || unseen.size === 0 || last === undefined) return reply
  const fillList = reply.data.fillList.filter(({ tradeId }) => !unseen.has(tradeId))
  const missing = reply.data.fillList.length - fillList.length
  if (missing === 0) return reply
  // A page may end between the two fills of a self-trade: those that share its last id come again.
  const known = new Set(reply.data.fillList.map(fillKey))
  const sharing = reply.data.fillList.filter(({ tradeId }) => tradeId === last.tradeId).length
  const idLessThan = unseen.has(last.tradeId) ? last.tradeId : String(BigInt(last.tradeId) + 1n)
  const rest = pageWithout(unseen, { ...query, limit: missing + sharing, idLessThan }, read)
  const more = rest.ok ? rest.data.fillList.filter((row) => !known.has(fillKey(row))) : []
  const all = [...fillList, ...more.slice(0, missing)]
  return { ok: true, data: { ...reply.data, fillList: all, endId: all.at(-1)?.tradeId ?? null } }
}

const ENTRY_POINTS = ['WEB', 'ANDROID', 'IOS'] as const
const ODD_ENTRY_POINTS = ['', null, 'h5', 'MACOS'] as const

/** Fills of orders by hand show their source; the core itself knows only that of the API. */
export function showHands(reply: Reply<FillsPage>, truth: ExchangeTruth): Reply<FillsPage> {
  if (!reply.ok) return reply
  const fillList = reply.data.fillList.map((row) => {
    const sequence = sequenceOfId(row.orderId) ?? 0
    const order = truth.orders.get(String(sequence))
    if (row.enterPointSource !== 'API' || !order || !isForeign(order)) return row
    if (isOdd(order))
      return { ...row, enterPointSource: ODD_ENTRY_POINTS[sequence % ODD_ENTRY_POINTS.length] }
    if (isByApi(order)) return row
    return { ...row, enterPointSource: ENTRY_POINTS[sequence % ENTRY_POINTS.length] ?? 'WEB' }
  })
  return { ok: true, data: { ...reply.data, fillList } }
}

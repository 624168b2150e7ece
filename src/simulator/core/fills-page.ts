import { type RequestOf, type ResponseOf } from '../../protocol/endpoints.ts'
import { FILLS_PAGE_MAX, type WireFill } from '../../protocol/futures/order-fills.ts'
import { threeMonthsSpan } from '../../protocol/time-span.ts'
import { symbolOf, type Account, type CoreState } from './core-state.ts'
import { type Fill } from './fill.ts'
import { priceText, sizeText } from './instruments.ts'
import { orderIdText, sequenceOfId, tradeIdText } from './order.ts'
import { listedSymbol } from './place-orders.ts'
import { quoteValue } from './position.ts'
import { refusals } from './refusals.ts'
import { accept, refuse, type Refusal, type Reply } from './reply.ts'

type FillsQuery = RequestOf<'orderFills'>

/**
 * One page of the account's fills, newest first. Document: GET /api/v2/mix/order/fills. `endId` is the
 * page's oldest trade, the next page's `idLessThan`; an empty text when the page is empty.
 */
export function fillsPage(
  state: CoreState,
  account: Account,
  query: FillsQuery,
): Reply<ResponseOf<'orderFills'>> {
  const refusal = queryRefusal(state, query)
  if (refusal !== undefined) return refuse(refusal)
  const matches = fillFilter(state, query)
  const limit = Number(query.limit ?? FILLS_PAGE_MAX)
  const page: Fill[] = []
  for (let index = account.fills.length - 1; index >= 0 && page.length < limit; index--) {
    const fill = account.fills[index]
    if (fill !== undefined && matches(fill)) page.push(fill)
  }
  const last = page.at(-1)
  return accept({
    fillList: page.map((fill) => toWireFill(state, account, fill)),
    endId: last === undefined ? '' : tradeIdText(last.sequence),
  })
}

function queryRefusal(state: CoreState, query: FillsQuery): Refusal | undefined {
  const { symbol, productType, startTime, endTime } = query
  if (symbol !== undefined && listedSymbol(state, { symbol, productType }) === undefined) {
    return refusals.symbolUnknown(symbol)
  }
  const isReversed = startTime !== undefined && endTime !== undefined && Number(startTime) > Number(endTime)
  return isReversed ? refusals.startAfterEnd() : undefined
}

function fillFilter(state: CoreState, query: FillsQuery): (fill: Fill) => boolean {
  const { now } = state.clock
  const visibleUntil = now - state.settings.fillVisibilityLagMs
  const { startAt, endAt } = threeMonthsSpan(query, now)
  const before = query.idLessThan === undefined ? Number.POSITIVE_INFINITY : tradeBefore(query.idLessThan)
  const order = query.orderId === undefined ? undefined : (sequenceOfId('11', query.orderId) ?? -1)
  return (fill) =>
    fill.at <= visibleUntil &&
    fill.sequence < before &&
    fill.at >= startAt &&
    fill.at <= endAt &&
    (order === undefined || fill.orderSequence === order) &&
    (query.symbol === undefined || fill.symbol === query.symbol) &&
    state.symbols.get(fill.symbol)?.instrument.productType === query.productType
}

/** An id that is none of ours compares as the number it is: trade ids are 18 digits and begin with 12. */
function tradeBefore(text: string): number {
  const own = sequenceOfId('12', text)
  if (own !== undefined) return own
  return BigInt(text) > BigInt(tradeIdText(0)) ? Number.POSITIVE_INFINITY : 0
}

/** A fill stays as it is, and is read again and again: how it was written last. */
const written = new WeakMap<Fill, WireFill>()

function toWireFill(state: CoreState, account: Account, fill: Fill): WireFill {
  const known = written.get(fill)
  if (known?.posMode === account.setup.positionMode) return known
  const row = writeFill(state, account, fill)
  written.set(fill, row)
  return row
}

function writeFill(state: CoreState, account: Account, fill: Fill): WireFill {
  const { instrument } = symbolOf(state, fill.symbol)
  return {
    tradeId: tradeIdText(fill.sequence),
    symbol: fill.symbol,
    orderId: orderIdText(fill.orderSequence),
    price: priceText(instrument, fill.priceTicks),
    baseVolume: sizeText(instrument, fill.lots),
    quoteVolume: quoteValue(instrument, fill.priceTicks, fill.lots).toString(),
    feeDetail: [
      {
        deduction: 'no',
        feeCoin: instrument.marginCoin,
        totalDeductionFee: state.settings.totalDeductionFee === 'zero' ? '0' : null,
        totalFee: fill.fee.times('-1').toString(),
      },
    ],
    side: fill.side,
    profit: fill.profit.toString(),
    enterPointSource: fill.source,
    tradeSide: fill.tradeSide,
    posMode: account.setup.positionMode,
    tradeScope: fill.tradeScope,
    cTime: String(fill.at),
  }
}

import { type RequestOf, type ResponseOf } from '../../../protocol/endpoints.ts'
import { FILLS_PAGE_MAX, type WireFill } from '../../../protocol/futures/order-fills.ts'
import { threeMonthsSpan } from '../../../protocol/time-span.ts'
import { type AccountRef } from '../../shared/account.ts'
import { accountOf, symbolOf, type Account, type CoreState } from '../core-state.ts'
import { historyPage } from '../../shared/history-page.ts'
import { type Fill } from './fill.ts'
import { priceText, sizeText } from '../instruments/instruments.ts'
import { orderIdText, sequenceOfId, tradeIdText } from '../orders/order.ts'
import { listedSymbol } from '../orders/place-orders.ts'
import { quoteValue } from './position.ts'
import { refusals } from '../refusals.ts'
import { accept, refuse, type Refusal, type Reply } from '../../shared/reply.ts'

type FillsQuery = RequestOf<'orderFills'>

/**
 * One page of the account's fills, newest first. Document: GET /api/v2/mix/order/fills. `endId` is the
 * page's oldest trade, the next page's `idLessThan`; an empty text when the page is empty.
 */
export function fillsPage(
  state: CoreState,
  { uid }: AccountRef,
  query: FillsQuery,
): Reply<ResponseOf<'orderFills'>> {
  const account = accountOf(state, uid)
  const refusal = queryRefusal(state, query)
  if (refusal !== undefined) return refuse(refusal)
  if (isNothingSince(account, query.startTime)) return accept({ fillList: [], endId: '' })
  const { now } = state.clock
  const { startAt, endAt } = threeMonthsSpan(query, now)
  const order = query.orderId === undefined ? undefined : (sequenceOfId('11', query.orderId) ?? -1)
  const page = historyPage(account.fills, {
    idOf: ({ sequence }) => tradeIdText(sequence),
    timeOf: ({ at }) => at,
    startAt,
    endAt: Math.min(endAt, now - state.settings.fillVisibilityLagMs),
    idLessThan: query.idLessThan,
    limit: Number(query.limit ?? FILLS_PAGE_MAX),
    accepts: (fill) =>
      (order === undefined || fill.orderSequence === order) &&
      (query.symbol === undefined || fill.symbol === query.symbol) &&
      state.symbols.get(fill.symbol)?.instrument.productType === query.productType,
  })
  const last = page.at(-1)
  return accept({
    fillList: page.map((fill) => toWireFill(state, account, fill)),
    endId: last === undefined ? '' : tradeIdText(last.sequence),
  })
}

/** Asked again and again by who waits for fills. */
function isNothingSince({ fills }: Account, startTime: string | undefined): boolean {
  return startTime !== undefined && (fills.at(-1)?.at ?? Number.NEGATIVE_INFINITY) < Number(startTime)
}

function queryRefusal(state: CoreState, query: FillsQuery): Refusal | undefined {
  const { symbol, productType, startTime, endTime } = query
  if (symbol !== undefined && listedSymbol(state, { symbol, productType }) === undefined) {
    return refusals.symbolUnknown(symbol)
  }
  const isReversed = startTime !== undefined && endTime !== undefined && Number(startTime) > Number(endTime)
  return isReversed ? refusals.startAfterEnd() : undefined
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

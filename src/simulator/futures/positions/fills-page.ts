import type { RequestOf, ResponseOf } from '../../../protocol/endpoints.ts'
import { decimal } from '../../../lib/decimal.ts'
import { FILLS_PAGE_MAX, type WireFill } from '../../../protocol/futures/order-fills.ts'
import { threeMonthsSpan } from '../../../protocol/time-span.ts'
import type { AccountRef } from '../../shared/account.ts'
import { readHistory } from '../../shared/history-page.ts'
import { accept, type Reply } from '../../shared/reply.ts'
import { negated } from '../../wallet/rounding.ts'
import { accountOf, symbolOf, type ExchangeAccount, type CoreState } from '../core-state.ts'
import { isOfAsked, listedSymbol } from '../instruments/asked-symbols.ts'
import { priceText, sizeText } from '../instruments/instruments.ts'
import { orderIdText, sequenceOfId, tradeIdText } from '../orders/order.ts'
import type { FuturesFill } from './fill.ts'
import { quoteValue } from './position.ts'

/** `endId` skips the second fill of a self-trade whose first one ends the page. */
export function fillsPage(
  state: CoreState,
  { uid }: AccountRef,
  query: RequestOf<'orderFills'>,
): Reply<ResponseOf<'orderFills'>> {
  const { symbol, productType, orderId } = query
  const named = symbol === undefined ? undefined : listedSymbol(state, { symbol, productType })
  if (named?.ok === false) return named
  const account = accountOf(state, uid)
  const order = orderId === undefined ? undefined : (sequenceOfId(orderId) ?? -1)
  const isAsked = isOfAsked(state, { symbol, productType })
  const page = readHistory(account.fills, query, {
    limitMax: FILLS_PAGE_MAX,
    refusesDisorder: true,
    span(asked, now) {
      const { startAt, endAt } = threeMonthsSpan(asked, now)
      return { startAt, endAt: Math.min(endAt, now - state.settings.fillVisibilityLagMs) }
    },
    now: state.clock.now,
    boundAt: account.setup.boundAt,
    idOf: idOfFill,
    timeOf: ({ at }) => at,
    accepts: (fill) => (order === undefined || fill.orderSequence === order) && isAsked(fill),
  })
  if (!page.ok) return page
  const fillList = page.data.map((fill) => toWireFill(state, account, fill))
  return accept({ fillList, endId: fillList.at(-1)?.tradeId ?? '' })
}

function idOfFill({ sequence, idSequence = sequence }: FuturesFill): string {
  return tradeIdText(idSequence)
}

const written = new WeakMap<FuturesFill, WireFill>()

function toWireFill(state: CoreState, account: ExchangeAccount, fill: FuturesFill): WireFill {
  const known = written.get(fill)
  if (known?.posMode === account.setup.positionMode) return known
  const row = writeFill(state, account, fill)
  written.set(fill, row)
  return row
}

function writeFill(state: CoreState, account: ExchangeAccount, fill: FuturesFill): WireFill {
  const { instrument } = symbolOf(state, fill.symbol)
  return {
    tradeId: idOfFill(fill),
    symbol: fill.symbol,
    orderId: orderIdText(fill.orderSequence),
    price: priceText(instrument, fill.priceTicks),
    baseVolume: sizeText(instrument, fill.lots),
    quoteVolume: quoteValue(instrument, fill.priceTicks, fill.lots).toString(),
    feeDetail: [
      {
        deduction: fill.otherFee === undefined ? 'no' : 'yes',
        feeCoin: fill.otherFee?.coin ?? instrument.marginCoin,
        totalDeductionFee: state.settings.totalDeductionFee === 'zero' ? '0' : null,
        totalFee: negated(
          fill.otherFee === undefined ? fill.fee : decimal(fill.otherFee.amount),
        ).toString(),
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

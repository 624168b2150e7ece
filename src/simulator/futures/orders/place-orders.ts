import type { ResponseOf } from '../../../protocol/endpoints.ts'
import type {
  BatchPlaceItem,
  BatchPlaceRequest,
} from '../../../protocol/futures/batch-place-order.ts'
import { type AccountRef, type ExchangeMarginMode } from '../../shared/account.ts'
import { accept, eachOf, type OrderReference, type Reply } from '../../shared/reply.ts'
import { accountOf, type ExchangeAccount, type CoreState, type SymbolState } from '../core-state.ts'
import { listedSymbol, namedSymbol } from '../instruments/asked-symbols.ts'
import { refusals } from '../../shared/refusals.ts'
import { ACCOUNTS } from '../stored-entities.ts'
import { enterMatching } from './futures-venue.ts'
import { findEarlierOrder, rememberOrder } from './idempotency.ts'
import { admitOrder } from './order-admission.ts'
import { createOrder } from './order-lifecycle.ts'
import { readOrder } from './order-validation.ts'
import { orderIdText, type FuturesOrder, type FuturesOrderTerms } from './order.ts'

type BatchTerms = Omit<BatchPlaceRequest, 'orderList'>

/** Document, Errors 3: an order's error does not affect the others. */
export function placeBatch(
  state: CoreState,
  { uid }: AccountRef,
  { orderList, ...placing }: BatchPlaceRequest,
): Reply<ResponseOf<'batchPlaceOrder'>> {
  const account = accountOf(state, uid)
  const symbol = tradedSymbol(state, account, placing)
  if (!symbol.ok) return symbol
  return eachOf(orderList, (item) =>
    placeItem(state, account, symbol.data, { ...placing, ...item }),
  )
}

export function placeOne(
  state: CoreState,
  { uid }: AccountRef,
  request: BatchTerms & BatchPlaceItem,
): Reply<OrderReference> {
  const account = accountOf(state, uid)
  const symbol = tradedSymbol(state, account, request)
  return symbol.ok ? placeItem(state, account, symbol.data, request) : symbol
}

export function placeAdmitted(state: CoreState, terms: FuturesOrderTerms): FuturesOrder {
  const { arrivals, clock } = state
  const order = createOrder(state, terms)
  if (order.dueAt <= clock.now) enterMatching(state, order)
  else {
    const later = arrivals.findIndex(({ dueAt }) => dueAt > order.dueAt)
    arrivals.splice(later < 0 ? arrivals.length : later, 0, order)
  }
  return order
}

function tradedSymbol(
  state: CoreState,
  account: ExchangeAccount,
  request: BatchTerms,
): Reply<SymbolState> {
  const listed = listedSymbol(state, request)
  if (listed.ok && listed.data.isSettled) return refusals.delisted
  const named = namedSymbol(state, request)
  if (!named.ok) return named
  return marginModeOf(account, request) === request.marginMode ? named : refusals.marginModeFixed
}

function marginModeOf(
  { positions, openOrders }: ExchangeAccount,
  { symbol, marginMode }: BatchTerms,
): ExchangeMarginMode {
  for (const holders of [positions, openOrders]) {
    for (const holder of holders.values()) if (holder.symbol === symbol) return holder.marginMode
  }
  return marginMode
}

function placeItem(
  state: CoreState,
  account: ExchangeAccount,
  symbol: SymbolState,
  item: BatchTerms & BatchPlaceItem,
): Reply<OrderReference> {
  const placed = tryToPlace(state, account, symbol, item)
  if (!placed.ok) {
    account.counts.ordersRefused++
    state.rows.put(ACCOUNTS, account)
  }
  return placed
}

function tryToPlace(
  state: CoreState,
  account: ExchangeAccount,
  symbol: SymbolState,
  item: BatchTerms & BatchPlaceItem,
): Reply<OrderReference> {
  const { clientOid } = item
  const earlier = clientOid === undefined ? undefined : findEarlierOrder(state, account, clientOid)
  if (earlier !== undefined) return earlier
  const terms = readOrder(state, account, symbol, item)
  if (!terms.ok) return terms
  const admission = admitOrder(state, account, symbol, terms.data)
  if (!admission.ok) return admission
  const { isWithoutId } = admission.data
  const order = placeAdmitted(state, admission.data.terms)
  if (clientOid !== undefined) {
    const { sequence: orderSequence } = order
    rememberOrder(state, account, { clientOid, orderSequence, at: state.clock.now, isWithoutId })
  }
  return accept({
    orderId: isWithoutId ? '' : orderIdText(order.sequence),
    clientOid: order.clientOid,
  })
}

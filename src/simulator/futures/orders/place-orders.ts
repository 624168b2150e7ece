import { type ResponseOf } from '../../../protocol/endpoints.ts'
import { type BatchPlaceItem, type BatchPlaceRequest } from '../../../protocol/futures/batch-place-order.ts'
import { type AccountRef } from '../../shared/account.ts'
import { accountOf, type Account, type CoreState, type SymbolState } from '../core-state.ts'
import { findEarlierOrder, rememberOrder } from './idempotency.ts'
import { enterMatching } from './futures-venue.ts'
import { admitOrder } from './order-admission.ts'
import { createOrder } from './order-lifecycle.ts'
import { fitsPositionMode, readOrder } from './order-validation.ts'
import { orderIdText, type MarginMode, type Order, type OrderTerms } from './order.ts'
import { ACCOUNTS } from '../stored-entities.ts'
import { refusals } from '../refusals.ts'
import { accept, refuse, type Refusal, type Reply } from '../../shared/reply.ts'

/** What batch-place and cancel-all answer. */
type BatchResult = ResponseOf<'batchPlaceOrder'>

/**
 * Places a batch. Document: POST /api/v2/mix/order/batch-place-order. What is wrong with one order, its
 * tradeSide included, stands in failureList and leaves the others alone (Errors, 3), even where all are wrong.
 */
export function placeBatch(
  state: CoreState,
  { uid }: AccountRef,
  request: BatchPlaceRequest,
): Reply<BatchResult> {
  const account = accountOf(state, uid)
  const symbol = listedSymbol(state, request)
  const refusal = requestRefusal(account, symbol, request)
  if (symbol === undefined || refusal !== undefined) {
    return refuse(refusal ?? refusals.symbolUnknown(request.symbol))
  }
  const result: BatchResult = { successList: [], failureList: [] }
  for (const item of request.orderList) {
    const outcome = placeItem(state, account, { symbol, item, marginMode: request.marginMode })
    if (outcome.kind === 'accepted') {
      result.successList.push({ orderId: outcome.orderId, clientOid: outcome.clientOid })
      continue
    }
    const { code, message } = outcome.refusal
    result.failureList.push({
      orderId: '',
      clientOid: item.clientOid ?? '',
      errorMsg: message,
      errorCode: code,
    })
    account.counts.ordersRefused++
    state.rows.put(ACCOUNTS, account)
  }
  return accept(result)
}

/** The instrument of a request, when it is listed under that product type. */
export function listedSymbol(
  state: CoreState,
  request: { readonly symbol: string; readonly productType: string },
): SymbolState | undefined {
  const symbol = state.symbols.get(request.symbol)
  return symbol?.instrument.productType === request.productType ? symbol : undefined
}

/** Places admitted terms: the order enters matching at once, or after the lag. */
export function placeAdmitted(state: CoreState, terms: OrderTerms): Order {
  const order = createOrder(state, terms)
  if (order.dueAt > state.clock.now) expectArrival(state, order)
  else enterMatching(state, order)
  return order
}

/** Behind those that are due before it, or came before it. */
function expectArrival({ arrivals }: CoreState, order: Order): void {
  const later = arrivals.findIndex(({ dueAt }) => dueAt > order.dueAt)
  arrivals.splice(later < 0 ? arrivals.length : later, 0, order)
}

type Outcome =
  | { readonly kind: 'accepted'; readonly orderId: string; readonly clientOid: string }
  | { readonly kind: 'refused'; readonly refusal: Refusal }

interface Item {
  readonly symbol: SymbolState
  readonly item: BatchPlaceItem
  readonly marginMode: MarginMode
}

function placeItem(state: CoreState, account: Account, { symbol, item, marginMode }: Item): Outcome {
  const { clientOid } = item
  if (clientOid !== undefined) {
    const earlier = findEarlierOrder(state, account, clientOid)
    if (earlier.kind === 'replay') return { kind: 'accepted', orderId: earlier.orderId, clientOid }
    if (earlier.kind === 'duplicate') return { kind: 'refused', refusal: refusals.duplicateClientOid() }
  }
  if (!fitsPositionMode(account, item)) return { kind: 'refused', refusal: refusals.positionModeMismatch() }
  const terms = readOrder(state, account, { symbol, item, marginMode })
  if (!terms.ok) return { kind: 'refused', refusal: terms.refusal }
  const admission = admitOrder(state, account, symbol, terms.value)
  if (!admission.ok) return { kind: 'refused', refusal: admission.refusal }
  const { isWithoutId } = admission.value
  const order = placeAdmitted(state, admission.value.terms)
  if (clientOid !== undefined) {
    rememberOrder(state, account, {
      clientOid,
      orderSequence: order.sequence,
      at: state.clock.now,
      isWithoutId,
    })
  }
  return {
    kind: 'accepted',
    orderId: isWithoutId ? '' : orderIdText(order.sequence),
    clientOid: order.clientOid,
  }
}

/** What refuses the whole request. */
function requestRefusal(
  account: Account,
  symbol: SymbolState | undefined,
  request: BatchPlaceRequest,
): Refusal | undefined {
  if (symbol === undefined) return refusals.symbolUnknown(request.symbol)
  if (symbol.isSettled) return refusals.delisted()
  if (request.marginCoin !== symbol.instrument.marginCoin) return refusals.parameter('marginCoin')
  return marginModeOf(account, request) === request.marginMode ? undefined : refusals.marginModeFixed()
}

/** The margin mode that positions and open orders of the symbol bind it to, else the request's own. */
function marginModeOf(account: Account, { symbol, marginMode }: BatchPlaceRequest): MarginMode {
  for (const position of account.positions.values()) {
    if (position.symbol === symbol) return position.marginMode
  }
  for (const order of account.openOrders.values()) {
    if (order.symbol === symbol) return order.marginMode
  }
  return marginMode
}

import { type WireRequestOf } from '../../protocol/endpoints.ts'
import { type UndocumentedRequestOf } from '../../protocol/undocumented.ts'
import { type AccountRef } from '../core/account.ts'
import { type ExchangeCore } from '../core/exchange-core.ts'
import { type PlacePlanOrderRequest } from '../core/plan-orders.ts'
import { accept, refuse, type Reply } from '../core/reply.ts'

type OrderReference = { readonly orderId: string | null; readonly clientOid: string | null }

type BatchItem = WireRequestOf<'batchPlaceOrder'>['orderList'][number]

/** A batch of one: what is a failed item there is a refused request here. */
export function placeOneOrder(
  core: Pick<ExchangeCore, 'batchPlaceOrder'>,
  account: AccountRef,
  { request, now }: { readonly request: UndocumentedRequestOf<'placeOrder'>; readonly now: number },
): Reply<OrderReference> {
  const { symbol, productType, marginCoin, marginMode } = request
  const batch = { symbol, productType, marginCoin, marginMode, orderList: [toItem(request)] }
  const reply = core.batchPlaceOrder(account, batch, now)
  if (!reply.ok) return reply
  const [placed] = reply.data.successList
  if (placed !== undefined)
    return accept({ orderId: placed.orderId ?? null, clientOid: placed.clientOid ?? null })
  const [failed] = reply.data.failureList
  return refuse({
    code: failed?.errorCode ?? '40725',
    message: failed?.errorMsg ?? 'service return an error',
  })
}

/** Only what a batch's item has: public clients send more, which the real exchange ignores. */
function toItem(request: UndocumentedRequestOf<'placeOrder'>): BatchItem {
  const { size, price, side, tradeSide, orderType, force, clientOid, reduceOnly, stpMode } = request
  const { presetStopSurplusPrice, presetStopLossPrice } = request
  const item = {
    size,
    side,
    tradeSide,
    orderType,
    clientOid,
    reduceOnly,
    stpMode,
    presetStopSurplusPrice,
    presetStopLossPrice,
  }
  return orderType === 'limit' ? { ...item, price, force: force ?? 'gtc' } : { ...item, price }
}

/** The wire's request as the core takes it: an empty text is none given. */
export function toPlanRequest(request: UndocumentedRequestOf<'placePlanOrder'>): PlacePlanOrderRequest {
  return {
    ...request,
    stopSurplusTriggerType: request.stopSurplusTriggerType || undefined,
    stopLossTriggerType: request.stopLossTriggerType || undefined,
  }
}

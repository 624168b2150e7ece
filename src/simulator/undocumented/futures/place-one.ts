import { type WireRequestOf, type WireResponseOf } from '../../../protocol/endpoints.ts'
import { type AccountRef } from '../../shared/account.ts'
import { type CoreState } from '../../futures/core-state.ts'
import { placeBatch } from '../../futures/orders/place-orders.ts'
import { accept, refuse, type Reply } from '../../shared/reply.ts'

type Batch = WireRequestOf<'batchPlaceOrder'>
type BatchItem = Batch['orderList'][number]
type PlaceRequest = Omit<Batch, 'orderList'> & BatchItem

/** A batch of one: what is a failed item there is a refused request here. */
export function placeFuturesOrder(
  state: CoreState,
  account: AccountRef,
  request: PlaceRequest,
): Reply<WireResponseOf<'modifyPlanOrder'>> {
  const { symbol, productType, marginCoin, marginMode } = request
  const batch = { symbol, productType, marginCoin, marginMode, orderList: [toItem(request)] }
  const reply = placeBatch(state, account, batch)
  if (!reply.ok) return reply
  const [placed] = reply.data.successList
  if (placed !== undefined) return accept(placed)
  const [failed] = reply.data.failureList
  return refuse({
    code: failed?.errorCode ?? '40725',
    message: failed?.errorMsg ?? 'service return an error',
  })
}

/** Only what a batch's item has: public clients send more, which the real exchange ignores. */
function toItem(request: PlaceRequest): BatchItem {
  const { size, price, side, tradeSide, orderType, force = 'gtc', clientOid, reduceOnly, stpMode } = request
  const { presetStopSurplusPrice, presetStopLossPrice } = request
  const item = { size, price, side, tradeSide, orderType, clientOid, reduceOnly, stpMode }
  const presets = { presetStopSurplusPrice, presetStopLossPrice }
  return { ...item, ...presets, ...(orderType === 'limit' && { force }) }
}

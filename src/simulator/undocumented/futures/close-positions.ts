import { type ResponseOf, type WireRequestOf } from '../../../protocol/endpoints.ts'
import { type ProductType } from '../../../protocol/values.ts'
import { type AccountRef } from '../../shared/account.ts'
import { accountOf, symbolOf, type CoreState } from '../../futures/core-state.ts'
import { sizeText } from '../../futures/instruments/instruments.ts'
import { listedSymbol, placeBatch } from '../../futures/orders/place-orders.ts'
import { type Position } from '../../futures/positions/position.ts'
import { refusals } from '../../futures/refusals.ts'
import { accept, refuse, type Reply } from '../../shared/reply.ts'
import { isOfAsked } from './listed-symbols.ts'

type BatchResult = ResponseOf<'batchPlaceOrder'>
type Batch = WireRequestOf<'batchPlaceOrder'>

interface CloseRequest {
  readonly productType: ProductType
  readonly symbol?: string | undefined
  readonly holdSide?: string | undefined
}

/**
 * Closes positions by a market order each, under the rules of any order that closes: what resting orders of a
 * hedge position hold stays with them. In one-way mode the direction is not asked about.
 */
export function closeFuturesPositions(
  state: CoreState,
  account: AccountRef,
  request: CloseRequest,
): Reply<BatchResult> {
  const { symbol, productType, holdSide } = request
  if (symbol !== undefined && listedSymbol(state, { symbol, productType }) === undefined)
    return refuse(refusals.symbolUnknown(symbol))
  const { positions, setup } = accountOf(state, account.uid)
  const isHedge = setup.positionMode === 'hedge_mode'
  const closed = [...positions.values()]
    .filter(isOfAsked(state, request))
    .filter((position) => !isHedge || !holdSide || position.holdSide === holdSide)
  if (closed.length === 0) return refuse(refusals.noPosition())
  const result: BatchResult = { successList: [], failureList: [] }
  for (const batch of closed.map((position) => ({ ...toBatch(state, position), productType }))) {
    const reply = placeBatch(state, account, batch)
    if (reply.ok) {
      result.successList.push(...reply.data.successList)
      result.failureList.push(...reply.data.failureList)
    } else {
      const { code, message } = reply
      result.failureList.push({ orderId: '', clientOid: '', errorMsg: message, errorCode: code })
    }
  }
  return accept(result)
}

function toBatch(state: CoreState, position: Position): Omit<Batch, 'productType'> {
  const { instrument } = symbolOf(state, position.symbol)
  const isLong = position.holdSide === 'long'
  const size = sizeText(instrument, position.lots)
  const item =
    position.slot === 'net'
      ? { side: isLong ? ('sell' as const) : ('buy' as const), reduceOnly: 'YES' as const }
      : { side: isLong ? ('buy' as const) : ('sell' as const), tradeSide: 'close' as const }
  return {
    symbol: position.symbol,
    marginCoin: instrument.marginCoin,
    marginMode: position.marginMode,
    orderList: [{ size, orderType: 'market', ...item }],
  }
}

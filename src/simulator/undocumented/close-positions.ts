import { type ResponseOf, type WireRequestOf } from '../../protocol/endpoints.ts'
import { type UndocumentedRequestOf } from '../../protocol/undocumented.ts'
import { type AccountRef } from '../core/account.ts'
import { accountOf, symbolOf, type CoreState } from '../core/core-state.ts'
import { type ExchangeCore } from '../core/exchange-core.ts'
import { sizeText } from '../core/instruments.ts'
import { listedSymbol } from '../core/place-orders.ts'
import { type Position } from '../core/position.ts'
import { refusals } from '../core/refusals.ts'
import { accept, refuse, type Refusal, type Reply } from '../core/reply.ts'

type Request = UndocumentedRequestOf<'closePositions'>
type BatchResult = ResponseOf<'batchPlaceOrder'>
type Batch = WireRequestOf<'batchPlaceOrder'>

/**
 * Closes positions by a market order each, under the rules of any order that closes: what resting orders of a
 * hedge position hold stays with them. In one-way mode the direction is not asked about.
 */
export function closeFuturesPositions(
  core: Pick<ExchangeCore, 'batchPlaceOrder' | 'carryOut'>,
  account: AccountRef,
  { request, now }: { readonly request: Request; readonly now: number },
): Reply<BatchResult> {
  const batches = core.carryOut(now, (state) => closingBatches(state, account.uid, request))
  if (!Array.isArray(batches)) return refuse(batches)
  const result: BatchResult = { successList: [], failureList: [] }
  for (const batch of batches) {
    const reply = core.batchPlaceOrder(account, batch, now)
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

function closingBatches(state: CoreState, uid: string, request: Request): Batch[] | Refusal {
  const { symbol, productType, holdSide } = request
  if (symbol !== undefined && listedSymbol(state, { symbol, productType }) === undefined)
    return refusals.symbolUnknown(symbol)
  const account = accountOf(state, uid)
  const isHedge = account.setup.positionMode === 'hedge_mode'
  const positions = [...account.positions.values()].filter(
    (position) =>
      symbolOf(state, position.symbol).instrument.productType === productType &&
      (symbol === undefined || position.symbol === symbol) &&
      (!isHedge || !holdSide || position.holdSide === holdSide),
  )
  if (positions.length === 0) return refusals.noPosition()
  return positions.map((position) => ({ ...toBatch(state, position), productType }))
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

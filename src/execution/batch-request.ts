import type { Instrument, MarginMode, PositionMode } from '../domain/instrument.ts'
import type { OrderTerms } from '../domain/order.ts'
import { WIRE_DIRECTIONS } from '../domain/order-action.ts'
import { formatOnGrid } from '../lib/grid.ts'
import type { BatchPlaceItem, BatchPlaceRequest } from '../protocol/futures/batch-place-order.ts'
import { type ClientOid, toClientOid } from '../domain/ids.ts'
import { base32, sha256 } from '../lib/digest.ts'

export interface OrderAccount {
  readonly positionMode: PositionMode
  readonly marginMode: MarginMode
}

export type WireTerms = Pick<
  OrderTerms,
  'clientOid' | 'action' | 'lots' | 'ticks' | 'force' | 'takeProfitTicks' | 'stopLossTicks'
>

/** One symbol, product type, margin coin and margin mode (ORD6). */
export function buildBatchRequest(
  account: OrderAccount,
  instrument: Instrument,
  orders: readonly WireTerms[],
): BatchPlaceRequest {
  return {
    symbol: instrument.symbol,
    productType: instrument.productType,
    marginCoin: instrument.marginCoin,
    marginMode: account.marginMode,
    orderList: orders.map((terms) => buildBatchItem(account.positionMode, instrument, terms)),
  }
}

function buildBatchItem(
  mode: PositionMode,
  instrument: Instrument,
  terms: WireTerms,
): BatchPlaceItem {
  const { side, tradeSide, reduceOnly } = WIRE_DIRECTIONS[mode][terms.action]
  const priceOf = (ticks: number | undefined) =>
    ticks === undefined ? undefined : formatOnGrid(instrument.tick, ticks)
  const isMarket = terms.ticks === undefined
  // The document's order; undefined properties are not written.
  return {
    size: formatOnGrid(instrument.lot, terms.lots),
    price: priceOf(terms.ticks),
    side,
    tradeSide,
    orderType: isMarket ? 'market' : 'limit',
    force: isMarket ? undefined : terms.force,
    clientOid: terms.clientOid,
    reduceOnly,
    presetStopSurplusPrice: priceOf(terms.takeProfitTicks),
    presetStopLossPrice: priceOf(terms.stopLossTicks),
  }
}

/** 26 characters of base32 are 130 bits. */
const DIGEST_CHARACTERS = 26

/**
 * `t` + base32(sha256(salt, strategy, key))[0..25] + `-` + base36(generation).
 *
 * The same decision gives the same id even after the journal is lost, so the exchange recognises
 * the duplicate. Each state directory draws its salt once, so two daemons never use the same id.
 * Why: docs/orders.md.
 */
export function deriveClientOid(options: {
  readonly salt: string
  readonly strategyId: string
  readonly key: string
  readonly generation: number
}): ClientOid {
  const { salt, strategyId, key, generation } = options
  const digest = base32(sha256([salt, strategyId, key])).slice(0, DIGEST_CHARACTERS)
  return toClientOid(`t${digest}-${generation.toString(36)}`)
}

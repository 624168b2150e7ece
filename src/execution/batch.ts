import { type Answer, isClockRefused, type RefusalClass } from '../domain/answer.ts'
import type { Fill } from '../domain/fill.ts'
import { type ClientOid, toClientOid, toOrderId } from '../domain/ids.ts'
import type { Instrument, MarginMode, PositionMode } from '../domain/instrument.ts'
import type { OrderIntent } from '../domain/intent.ts'
import { WIRE_DIRECTIONS } from '../domain/order-action.ts'
import { canRest, openLots, type Order, type OrderTerms } from '../domain/order.ts'
import type { Approved } from '../domain/proofs.ts'
import type { ItemOutcome } from '../domain/record.ts'
import { base32, sha256 } from '../lib/digest.ts'
import { formatOnGrid } from '../lib/grid.ts'
import { unreachable } from '../lib/unreachable.ts'
import { errorCode } from '../protocol/error-codes.ts'
import type { BatchPlaceItem, BatchPlaceRequest } from '../protocol/futures/batch-place-order.ts'
import type { BatchResult } from '../protocol/values.ts'

export interface ApprovedItem {
  readonly intent: Approved<OrderIntent>
  readonly resendOf?: ClientOid
}

interface PackingRules {
  readonly max: number
  readonly mode: PositionMode
  readonly nameless: readonly Order[]
}

/**
 * Takes at most `max` items in the given order. The fills of two items, or of an item and a
 * nameless order, must never look alike: if the answer is lost, the fills then identify each order.
 * Other items wait.
 */
export function packBatch(
  items: readonly ApprovedItem[],
  { max, mode, nameless }: PackingRules,
): readonly ApprovedItem[] {
  const owners = new Map<string, ClientOid | undefined>()
  for (const { terms } of nameless) {
    for (const key of attributionKeys(mode, terms)) owners.set(key, terms.clientOid)
  }
  const packed: ApprovedItem[] = []
  const taken = new Set<string>()
  for (const item of items) {
    const keys = attributionKeys(mode, item.intent)
    const isFree = (key: string): boolean =>
      !taken.has(key) &&
      (!owners.has(key) || (item.resendOf !== undefined && owners.get(key) === item.resendOf))
    if (packed.length >= max || !keys.every(isFree)) continue
    for (const key of keys) taken.add(key)
    packed.push(item)
  }
  return packed
}

/** Clocks differ, so a fill may seem this much older than its order. */
const CLOCK_ERROR_MS = 2000

type AttributedTerms = Pick<OrderTerms, 'symbol' | 'action' | 'force'> & {
  readonly ticks?: number | undefined
}

/**
 * A fill shows this of its order: symbol, side, trade side, and the limit price if it was the
 * maker. A post-only order has the maker's key, one that cannot rest the taker's, any other both.
 */
function attributionKeys(mode: PositionMode, terms: AttributedTerms): readonly string[] {
  const { side, tradeSide } = WIRE_DIRECTIONS[mode][terms.action]
  const taker = `${terms.symbol}:${side}:${tradeSide ?? ''}`
  const maker = `${taker}@${terms.ticks}`
  if (terms.force === 'post_only') return [maker]
  return terms.ticks !== undefined && terms.force === 'gtc' ? [taker, maker] : [taker]
}

export function couldHaveMadeFill(mode: PositionMode, order: Order, fill: Fill): boolean {
  return fill.lots <= openLots(order) && matchesTermsAndTime(mode, order, fill)
}

export function matchesTermsAndTime(mode: PositionMode, order: Order, fill: Fill): boolean {
  return fill.filledAt >= order.firstSentAt - CLOCK_ERROR_MS && matchesTerms(mode, order, fill)
}

/** Dates cannot be compared for a while after a clock was set. */
export function matchesTerms(mode: PositionMode, order: Order, fill: Fill): boolean {
  const { terms } = order
  const { side, tradeSide } = WIRE_DIRECTIONS[mode][terms.action]
  if (terms.symbol !== fill.symbol || side !== fill.side) return false
  if (tradeSide !== undefined && tradeSide !== fill.tradeSide) return false
  if (order.orderId !== undefined || order.attempts === 0) return false
  if (fill.scope === 'maker') return canRest(terms) && fill.ticks === terms.ticks
  return terms.force !== 'post_only' && isWithinLimit(terms, fill)
}

function isWithinLimit(terms: OrderTerms, fill: Fill): boolean {
  if (terms.ticks === undefined) return true
  const buys = terms.action === 'openLong' || terms.action === 'closeShort'
  return buys ? fill.ticks <= terms.ticks : fill.ticks >= terms.ticks
}

interface OrderAccount {
  readonly positionMode: PositionMode
  readonly marginMode: MarginMode
}

export type WireTerms = Pick<
  OrderTerms,
  'clientOid' | 'action' | 'lots' | 'ticks' | 'force' | 'takeProfitTicks' | 'stopLossTicks'
>

/** ORD6: one symbol, product type, margin coin and margin mode. */
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
  // The document gives this order; undefined properties are not written.
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
 * A clientOid is `t` + base32(sha256(salt, strategy, key))[0..25] + `-` + base36(generation).
 *
 * The same decision gives the same id as long as the salt survives, so the exchange recognises a
 * duplicate. Each journal draws its own salt, so two daemons never use the same id.
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

/**
 * Each item gets its outcome, in the order sent. `00000` with a failure list is no success, and an
 * item that neither list names is unknown (ORD3, ORD6).
 */
export function readBatchOutcome(
  clientOids: readonly ClientOid[],
  answer: Answer<BatchResult>,
): readonly ItemOutcome[] {
  switch (answer.kind) {
    case 'unknown':
      return clientOids.map((clientOid) =>
        unknownItem(clientOid, answer.code || answer.cause, answer.message),
      )
    case 'refused': {
      const { code, message } = answer
      if (isClockRefused(answer))
        return clientOids.map((clientOid) => ({
          clientOid,
          outcome: 'clockRefused',
          code,
          message,
        }))
      return clientOids.map((clientOid) => ({
        ...refusedItem(clientOid, answer.class, clientOids.length === 1),
        code,
        message,
      }))
    }
    case 'accepted':
      return readLists(clientOids, answer.data)
    default:
      return unreachable(answer)
  }
}

/**
 * A 429 usually means that the order was not accepted. If it was accepted all the same, and filled
 * meanwhile, sending it again would double it, since the exchange recognises only open orders. So
 * the order is unknown until its fate is proved.
 */
const NOT_ACCEPTED_NOW = { outcome: 'unknown', isAnswered: true } as const

function refusedItem(clientOid: ClientOid, refusal: RefusalClass, isAlone: boolean): ItemOutcome {
  switch (refusal) {
    case 'definite':
    case 'invalid':
      return { clientOid, outcome: 'rejected' }
    case 'retry':
      return { clientOid, ...NOT_ACCEPTED_NOW }
    case 'notSent':
      return { clientOid, outcome: 'notSent' }
    case 'exists':
      // The answer says neither which one existed nor what happened to the others.
      return { clientOid, outcome: 'unknown', ...(isAlone && { isDuplicate: true }) }
    default:
      return unreachable(refusal)
  }
}

function readLists(clientOids: readonly ClientOid[], data: BatchResult): readonly ItemOutcome[] {
  const accepted = new Map(data.successList.map((item) => [item.clientOid ?? '', item.orderId]))
  const failed = new Map(data.failureList.map((item) => [item.clientOid ?? '', item]))
  return clientOids.map((clientOid): ItemOutcome => {
    // An item in both lists was accepted: taken for refused, it could be doubled.
    if (accepted.has(clientOid)) {
      const orderId = accepted.get(clientOid)
      return { clientOid, outcome: 'accepted', ...(orderId ? { orderId: toOrderId(orderId) } : {}) }
    }
    const failure = failed.get(clientOid)
    if (!failure)
      return unknownItem(clientOid, 'ITEM_MISSING', 'the answer names it in neither list')
    return readFailure(
      clientOid,
      failure.errorCode ?? '',
      failure.errorMsg ?? '',
      failure.orderId ?? '',
    )
  })
}

function readFailure(
  clientOid: ClientOid,
  code: string,
  message: string,
  orderId: string,
): ItemOutcome {
  const { class: errorClass, topic } = errorCode(code)
  switch (errorClass) {
    case 'definite':
      return { clientOid, outcome: 'rejected', code, message }
    case 'exists':
      return {
        clientOid,
        outcome: 'exists',
        code,
        message,
        ...(orderId && { orderId: toOrderId(orderId) }),
      }
    case 'retry':
      if (topic === 'clock') return { clientOid, outcome: 'clockRefused', code, message }
      return { clientOid, ...NOT_ACCEPTED_NOW, code, message }
    case 'ambiguous':
      return unknownItem(clientOid, code, message)
    default:
      return unreachable(errorClass)
  }
}

function unknownItem(clientOid: ClientOid, code: string, message: string): ItemOutcome {
  return { clientOid, outcome: 'unknown', code, message }
}

import { quotient, ZERO, type Decimal } from '../../../lib/decimal.ts'
import { type RequestOf } from '../../../protocol/endpoints.ts'
import { type WirePosition } from '../../../protocol/futures/single-position.ts'
import { type AccountRef } from '../../shared/account.ts'
import { accountOf, symbolOf, type Account, type CoreState } from '../core-state.ts'
import { priceText, sizeText } from '../instruments/instruments.ts'
import { DISPLAY_DECIMALS, heldMargin, liquidationPrice, maintenanceRateOf, marginRatio } from './margin.ts'
import { closingOrders } from '../orders/order-lifecycle.ts'
import { listedSymbol } from '../orders/place-orders.ts'
import { remainingLots } from '../orders/order.ts'
import { baseSize, unrealised, type Position } from './position.ts'
import { refusals } from '../refusals.ts'
import { accept, refuse, type Reply } from '../../shared/reply.ts'

const HALF_EVEN = 2
const SHOWN = { decimals: DISPLAY_DECIMALS }

/** Document: GET /api/v2/mix/position/single-position. */
export function singlePosition(
  state: CoreState,
  { uid }: AccountRef,
  request: RequestOf<'singlePosition'>,
): Reply<WirePosition[]> {
  const symbol = listedSymbol(state, request)
  if (symbol === undefined) return refuse(refusals.symbolUnknown(request.symbol))
  if (request.marginCoin !== symbol.instrument.marginCoin) return refuse(refusals.parameter('marginCoin'))
  return accept(positionRows(state, accountOf(state, uid), request.symbol))
}

/** The position rows of one symbol: none when flat, one in one-way mode, up to two (long first) in hedge mode. */
export function positionRows(state: CoreState, account: Account, symbol: string): WirePosition[] {
  const rows: WirePosition[] = []
  for (const position of account.positions.values()) {
    if (position.symbol === symbol) rows.push(toWirePosition(state, account, position))
  }
  return rows.sort((a, b) => (a.holdSide < b.holdSide ? -1 : 1))
}

/** Of a row what says how much is held, at what price and with what profit: the rest of it costs ten times as much. */
export type HeldPosition = Pick<
  WirePosition,
  | 'symbol'
  | 'holdSide'
  | 'marginSize'
  | 'total'
  | 'openPriceAvg'
  | 'posMode'
  | 'unrealizedPL'
  | 'markPrice'
  | 'totalFee'
>

export function toHeldPosition(state: CoreState, account: Account, position: Position): HeldPosition {
  const { instrument, markTicks } = symbolOf(state, position.symbol)
  return {
    ...toStandingPart(state, position),
    posMode: account.setup.positionMode,
    // Not rounded: the ledger statement gives the same number, and books kept from it must add up.
    unrealizedPL: unrealised(instrument, position, markTicks).toString(),
    markPrice: priceText(instrument, markTicks),
  }
}

/** What of a row depends on no price, and the values that it was made of. */
interface StandingPart {
  readonly made: Pick<Position, 'lots' | 'cost' | 'margin' | 'funding'>
  readonly row: Omit<HeldPosition, 'posMode' | 'unrealizedPL' | 'markPrice'>
}

/** A position is read again and again between two trades: how it was written last. */
const written = new WeakMap<Position, StandingPart>()

function toStandingPart(state: CoreState, position: Position): StandingPart['row'] {
  const { lots, cost, margin, funding } = position
  const { made, row: known } = written.get(position) ?? {}
  if (
    known &&
    made?.lots === lots &&
    made.cost === cost &&
    made.margin === margin &&
    made.funding === funding
  )
    return known
  const symbol = symbolOf(state, position.symbol)
  const { instrument } = symbol
  const row = {
    symbol: position.symbol,
    holdSide: position.holdSide,
    marginSize: display(heldMargin(symbol, position)),
    total: sizeText(instrument, lots),
    openPriceAvg: display(quotient(cost, baseSize(instrument, lots), SHOWN)),
    totalFee: funding?.toString() ?? '',
  }
  written.set(position, { made: { lots, cost, margin, funding }, row })
  return row
}

/**
 * Document: Futures position. `available`, `locked` and `total` are in base coin: the document's field table
 * says quote currency, its sample and every client read base. `locked` is what resting closes hold.
 */
function toWirePosition(state: CoreState, account: Account, position: Position): WirePosition {
  const symbol = symbolOf(state, position.symbol)
  const { instrument } = symbol
  const held = toHeldPosition(state, account, position)
  const locked = Math.min(position.lots, lockedLots(account, position))
  return {
    symbol: position.symbol,
    marginCoin: instrument.marginCoin,
    holdSide: position.holdSide,
    openDelegateSize: sizeText(instrument, openingDelegateLots(account, position)),
    marginSize: held.marginSize,
    available: sizeText(instrument, position.lots - locked),
    locked: sizeText(instrument, locked),
    total: held.total,
    leverage: String(position.leverage),
    achievedProfits: position.realised.toString(),
    openPriceAvg: held.openPriceAvg,
    marginMode: position.marginMode,
    posMode: held.posMode,
    unrealizedPL: held.unrealizedPL,
    liquidationPrice: display(liquidationPrice(state, account, position) ?? ZERO),
    keepMarginRate: maintenanceRateOf(symbol, position).toString(),
    markPrice: held.markPrice,
    marginRatio: display(marginRatio(state, account, position)),
    breakEvenPrice: display(breakEvenPrice(state, position)),
    totalFee: held.totalFee,
    deductedFee: position.fees.toString(),
    assetMode: 'single',
    cTime: String(position.openedAt),
    uTime: String(position.updatedAt),
  }
}

/** What the open orders that would enlarge the position still have to fill. */
function openingDelegateLots(account: Account, position: Position): number {
  let lots = 0
  for (const order of account.openOrders.values()) {
    if (order.symbol !== position.symbol || order.slot !== position.slot) continue
    if (order.action === 'close' || order.reduceOnly) continue
    if ((order.direction === 'buy') === (position.holdSide === 'long')) lots += remainingLots(order)
  }
  return lots
}

function lockedLots(account: Account, position: Position): number {
  return closingOrders(account, position).reduce((sum, order) => sum + remainingLots(order), 0)
}

/** Where closing everything as a taker pays back the fees of the position's life, funding left out. */
function breakEvenPrice(state: CoreState, position: Position): Decimal {
  const { instrument } = symbolOf(state, position.symbol)
  const size = baseSize(instrument, position.lots)
  const isLong = position.holdSide === 'long'
  const { taker } = state.rates
  const kept = isLong ? taker.times('-1').plus('1') : taker.plus('1')
  if (!instrument.isInverse) {
    const needed = isLong ? position.cost.plus(position.fees) : position.cost.minus(position.fees)
    return quotient(needed, size.times(kept), SHOWN)
  }
  // Inverse: profit is size - cost / price for a long, in base coin; fees are a share of the size.
  const needed = isLong ? size.times(kept).minus(position.fees) : size.times(kept).plus(position.fees)
  return needed.lte(ZERO) ? ZERO : quotient(position.cost, needed, SHOWN)
}

function display(value: Decimal): string {
  return value.round(DISPLAY_DECIMALS, HALF_EVEN).toString()
}

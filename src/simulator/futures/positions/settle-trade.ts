import { ZERO, type Decimal } from '../../../lib/decimal.ts'
import {
  accountOf,
  coinOf,
  forgetBand,
  forgetBands,
  leverageOf,
  positionOf,
  counterpartiesOf,
  type Account,
  type CoreState,
  type SymbolState,
} from '../core-state.ts'
import { type Fill } from './fill.ts'
import { tradeFee } from '../../wallet/fees.ts'
import { book, type Booking } from '../accounts/ledger.ts'
import { positionsOfCoin, unsetBalance } from './margin.ts'
import { type Trade } from '../../matching/book-order.ts'
import { cancelClosingOrders } from '../orders/order-lifecycle.ts'
import { remainingLots, wireSide, type Order } from '../orders/order.ts'
import {
  costShare,
  createPosition,
  initialMargin,
  marginShare,
  marginValue,
  positionKey,
  profitOf,
  quoteValue,
  updateFloats,
  type Position,
} from './position.ts'
import { ACCOUNTS, COUNTERPARTIES, FILLS, POSITIONS } from '../stored-entities.ts'

/**
 * Books up to `lots` of an order: positions, fees, profit, margin and the fill's record.
 * An order that may only close is limited to its position. A one-way order through zero closes first and opens the
 * rest: two fills.
 *
 * @returns the lots that were filled
 */
export function settleTrade(state: CoreState, symbol: SymbolState, order: Order, trade: Trade): number {
  const account = accountOf(state, order.uid)
  const wanted = Math.min(trade.lots, remainingLots(order))
  const closing = Math.min(wanted, closableLots(account, order))
  const opening = mayOpen(order) ? wanted - closing : 0
  forgetBand(symbol)
  forgetBands(state, account)
  if (closing > 0) closePart(state, account, symbol, { order, ...trade, lots: closing })
  if (opening > 0) openPart(state, account, symbol, { order, ...trade, lots: opening })
  order.filledLots += closing + opening
  return closing + opening
}

export function mayOpen({ action, reduceOnly }: Order): boolean {
  return action !== 'close' && !reduceOnly
}

/** Books an amount on both sides; `amount` as the account sees it, in the instrument's margin coin. */
export function bookFor(
  state: CoreState,
  account: Account,
  entry: { readonly coin: string; readonly booking: Booking; readonly amount: Decimal },
): void {
  if (entry.amount.eq(ZERO)) return
  forgetBands(state, account)
  const counterparties = counterpartiesOf(state, entry.coin)
  book(entry.booking, entry.amount, counterparties, coinOf(account, entry.coin))
  state.rows.put(ACCOUNTS, account)
  state.rows.put(COUNTERPARTIES, { coin: entry.coin, counterparties })
}

/**
 * The insurance fund pays what an account without crossed positions lacks: a loss never becomes a debt.
 * While crossed positions stand, their unrealised profit may carry a balance below zero.
 */
export function coverDebt(state: CoreState, account: Account, coin: string): void {
  if (positionsOfCoin(state, account, coin).some(({ marginMode }) => marginMode === 'crossed')) return
  const rest = unsetBalance(state, account, coin)
  if (rest.lt(ZERO)) bookFor(state, account, { coin, booking: 'insurance', amount: rest.times('-1') })
}

interface Part extends Trade {
  readonly order: Order
}

/** Of the position that the order would close. */
export function closableLots(account: Account, order: Order): number {
  if (order.action === 'open') return 0
  const position = positionOf(account, order.symbol, order.slot)
  if (position === undefined) return 0
  return (position.holdSide === 'long') === (order.direction === 'sell') ? position.lots : 0
}

function closePart(state: CoreState, account: Account, symbol: SymbolState, part: Part): void {
  const position = positionOf(account, part.order.symbol, part.order.slot)
  if (position === undefined) return
  const { instrument } = symbol
  const { lots, ticks } = part
  const cost = costShare(position, lots)
  const profit = profitOf(instrument, position, { lots, ticks, cost })
  const fee = feeOf(state, symbol, part)
  position.margin = position.margin.minus(marginShare(position, lots))
  position.cost = position.cost.minus(cost)
  position.lots -= lots
  updateFloats(position)
  position.realised = position.realised.plus(profit)
  position.fees = position.fees.plus(fee)
  position.updatedAt = state.clock.now
  const coin = instrument.marginCoin
  bookFor(state, account, { coin, booking: 'profit', amount: profit })
  bookFor(state, account, { coin, booking: 'fee', amount: fee.times('-1') })
  recordFill(state, account, { part, tradeSide: 'close', fee, profit })
  state.rows.put(POSITIONS, position)
  if (position.lots > 0) return
  account.positions.delete(positionKey(position.symbol, position.slot))
  symbol.positions.splice(symbol.positions.indexOf(position), 1)
  cancelClosingOrders(state, account, { gone: position, but: part.order })
  coverDebt(state, account, coin)
}

function openPart(state: CoreState, account: Account, symbol: SymbolState, part: Part): void {
  const { instrument } = symbol
  const { order, lots, ticks } = part
  const position =
    positionOf(account, order.symbol, order.slot) ?? startPosition(state, account, symbol, order)
  const fee = feeOf(state, symbol, part)
  const coin = instrument.marginCoin
  bookFor(state, account, { coin, booking: 'fee', amount: fee.times('-1') })
  if (position.marginMode === 'isolated') {
    const wanted = initialMargin(marginValue(instrument, ticks, lots), position.leverage)
    const free = unsetBalance(state, account, coin)
    position.margin = position.margin.plus(free.lt(wanted) ? (free.gt(ZERO) ? free : ZERO) : wanted)
  }
  position.lots += lots
  position.cost = position.cost.plus(quoteValue(instrument, ticks, lots))
  updateFloats(position)
  position.fees = position.fees.plus(fee)
  position.takeProfit = order.takeProfit ?? position.takeProfit
  position.stopLoss = order.stopLoss ?? position.stopLoss
  position.updatedAt = state.clock.now
  state.rows.put(POSITIONS, position)
  recordFill(state, account, { part, tradeSide: 'open', fee, profit: ZERO })
  coverDebt(state, account, coin)
}

function startPosition(state: CoreState, account: Account, symbol: SymbolState, order: Order): Position {
  const position = createPosition({
    sequence: state.clock.tradeSequence + 1,
    uid: account.setup.uid,
    symbol: order.symbol,
    slot: order.slot,
    holdSide: order.direction === 'buy' ? 'long' : 'short',
    marginMode: order.marginMode,
    leverage: leverageOf(account, symbol.instrument),
    at: state.clock.now,
  })
  account.positions.set(positionKey(position.symbol, position.slot), position)
  symbol.positions.push(position)
  return position
}

/** In the margin coin. */
function feeOf(state: CoreState, { instrument }: SymbolState, { ticks, lots, scope }: Part): Decimal {
  return tradeFee(marginValue(instrument, ticks, lots), state.rates, scope)
}

interface FillParts {
  readonly part: Part
  readonly tradeSide: 'open' | 'close'
  readonly fee: Decimal
  readonly profit: Decimal
}

function recordFill(state: CoreState, account: Account, { part, tradeSide, fee, profit }: FillParts): void {
  const { order, ticks, lots, scope } = part
  const fill: Fill = {
    sequence: ++state.clock.tradeSequence,
    uid: order.uid,
    symbol: order.symbol,
    orderSequence: order.sequence,
    priceTicks: ticks,
    lots,
    direction: order.direction,
    side: wireSide(order.slot, order.direction),
    tradeSide: tradeSideText(state, order, tradeSide),
    tradeScope: scope,
    source: order.source,
    fee,
    profit,
    at: state.clock.now,
  }
  account.fills.push(fill)
  account.counts.fills++
  state.rows.put(FILLS, fill)
  state.rows.put(ACCOUNTS, account)
  dropOldFills(state, account)
}

/** The fill's `tradeSide`: what the system did, or open and close; see CoreSettings.oneWayTradeSide. */
function tradeSideText(state: CoreState, order: Order, tradeSide: 'open' | 'close'): string {
  if (order.systemTradeSide !== undefined) return order.systemTradeSide
  if (order.slot !== 'net' || state.settings.oneWayTradeSide === 'openClose') return tradeSide
  return order.direction === 'buy' ? 'buy_single' : 'sell_single'
}

/** Cut in one go when a tenth too many have gathered: shifting one at a time would copy the list each time. */
function dropOldFills(state: CoreState, account: Account): void {
  const { fillsMax } = state.settings
  if (account.fills.length <= fillsMax * 1.1) return
  const dropped = account.fills.slice(0, account.fills.length - fillsMax)
  account.fills = account.fills.slice(-fillsMax)
  for (const fill of dropped) state.rows.drop(FILLS, fill)
}

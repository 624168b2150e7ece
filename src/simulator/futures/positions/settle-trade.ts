import { decimal, ZERO, type Decimal } from '../../../lib/decimal.ts'
import type { Trade } from '../../matching/book-order.ts'
import { tradeFee } from '../../wallet/fees.ts'
import { larger, negated, roundUp, smaller } from '../../wallet/rounding.ts'
import { book, type BookingKind } from '../accounts/ledger.ts'
import {
  accountOf,
  coinOf,
  counterpartiesOf,
  forgetBand,
  forgetBands,
  leverageOf,
  positionOf,
  type ExchangeAccount,
  type CoreState,
  type SymbolState,
} from '../core-state.ts'
import { isOpeningProhibited } from '../instruments/delivery-status.ts'
import { priceText } from '../instruments/instruments.ts'
import { cancelClosingOrders } from '../orders/order-lifecycle.ts'
import { mayOpen, reduces, remainingLots, wireSide, type FuturesOrder } from '../orders/order.ts'
import { ACCOUNTS, COUNTERPARTIES, FILLS, POSITIONS } from '../stored-entities.ts'
import type { FuturesFill } from './fill.ts'
import { positionsOfCoin, unsetBalance } from './margin.ts'
import {
  initialMargin,
  marginValue,
  NO_POSITION,
  positionKey,
  profitOf,
  quoteValue,
  shareOf,
  updateFloats,
  type Position,
} from './position.ts'

/**
 * A closing order is limited to its position. A one-way order through zero makes two fills.
 * @returns the filled lots
 */
export function settleTrade(
  state: CoreState,
  symbol: SymbolState,
  order: FuturesOrder,
  trade: Trade,
): number {
  const account = accountOf(state, order.uid)
  const wanted = Math.min(trade.lots, fillableLots(state, symbol, order))
  const closing = Math.min(wanted, closableLots(account, order))
  const opening = mayOpen(order) ? wanted - closing : 0
  forgetBand(symbol)
  forgetBands(state, account)
  if (closing > 0)
    settlePart(state, account, symbol, { ...trade, order, lots: closing, tradeSide: 'close' })
  // Ids are unique in an order, so only the first of two fills through zero has the self-trade's.
  const isTwin = trade.isTwin === true && closing === 0
  if (opening > 0)
    settlePart(state, account, symbol, {
      ...trade,
      isTwin,
      order,
      lots: opening,
      tradeSide: 'open',
    })
  order.filledLots += closing + opening
  return closing + opening
}

export function bookFor(
  state: CoreState,
  account: ExchangeAccount,
  entry: { readonly coin: string; readonly booking: BookingKind; readonly amount: Decimal },
): void {
  if (entry.amount.eq(ZERO)) return
  forgetBands(state, account)
  const counterparties = counterpartiesOf(state, entry.coin)
  book(entry.booking, entry.amount, counterparties, coinOf(account, entry.coin))
  state.rows.put(ACCOUNTS, account)
  state.rows.put(COUNTERPARTIES, { coin: entry.coin, counterparties })
}

/** Unrealised profit of crossed positions may support a negative balance. */
export function coverDebt(state: CoreState, account: ExchangeAccount, coin: string): void {
  if (positionsOfCoin(state, account, coin).some(({ marginMode }) => marginMode === 'crossed'))
    return
  const rest = unsetBalance(state, account, coin)
  if (rest.lt(ZERO)) bookFor(state, account, { coin, booking: 'insurance', amount: negated(rest) })
}

export function fillableLots(state: CoreState, symbol: SymbolState, order: FuturesOrder): number {
  const left = remainingLots(order)
  if (!mayOpen(order) || !isOpeningProhibited(symbol, state.clock.now)) return left
  return Math.min(left, closableLots(accountOf(state, order.uid), order))
}

export function closableLots(account: ExchangeAccount, order: FuturesOrder): number {
  if (order.action === 'open') return 0
  const position = positionOf(account, order.symbol, order.slot)
  return position !== undefined && reduces(order, position) ? position.lots : 0
}

interface TradePart extends Trade {
  readonly order: FuturesOrder
  readonly tradeSide: 'open' | 'close'
}

function settlePart(
  state: CoreState,
  account: ExchangeAccount,
  symbol: SymbolState,
  part: TradePart,
): void {
  const { order, lots, ticks, scope, tradeSide } = part
  const { instrument } = symbol
  const coin = instrument.marginCoin
  const position =
    positionOf(account, order.symbol, order.slot) ?? startPosition(state, account, symbol, order)
  const charged = tradeFee(marginValue(instrument, ticks, lots), state.rates, scope)
  const other = feeInOtherCoin(state, account, { coin, charged })
  const fee = other === undefined ? charged : ZERO
  bookFor(state, account, { coin, booking: 'fee', amount: negated(fee) })
  if (other)
    bookFor(state, account, { coin: other.coin, booking: 'fee', amount: negated(other.amount) })
  let profit = ZERO
  if (tradeSide === 'close') {
    profit = reducePosition(symbol, position, part)
    bookFor(state, account, { coin, booking: 'profit', amount: profit })
  } else {
    enlargePosition(symbol, position, part, unsetBalance(state, account, coin))
  }
  position.fees = position.fees.plus(fee)
  position.updatedAt = state.clock.now
  updateFloats(position)
  const otherFee = other && { coin: other.coin, amount: other.amount.toString() }
  recordFill(state, account, part, { fee, profit, ...(otherFee && { otherFee }) })
  state.rows.put(POSITIONS, position)
  if (position.lots === 0) {
    account.positions.delete(positionKey(position.symbol, position.slot))
    symbol.positions.splice(symbol.positions.indexOf(position), 1)
    cancelClosingOrders(state, position, 'position_gone', order)
  }
  if (tradeSide === 'open' || position.lots === 0) coverDebt(state, account, coin)
}

function feeInOtherCoin(
  state: CoreState,
  account: ExchangeAccount,
  { coin: marginCoin, charged }: { readonly coin: string; readonly charged: Decimal },
): { readonly coin: string; readonly amount: Decimal } | undefined {
  const { feeCoin: coin, feeCoinPrice } = state.settings
  if (coin === '' || coin === marginCoin || charged.lte(ZERO)) return undefined
  const traded = state.symbols.get(`${coin}${marginCoin}`)
  const ticks = traded?.market.lastTicks ?? 0
  const price = traded && ticks > 0 ? priceText(traded.instrument, ticks) : feeCoinPrice
  const amount = roundUp(charged.div(decimal(price)))
  return coinOf(account, coin).balance.gte(amount) ? { coin, amount } : undefined
}

function reducePosition(
  { instrument }: SymbolState,
  position: Position,
  { lots, ticks }: TradePart,
): Decimal {
  const cost = shareOf(position, lots, position.cost)
  const profit = profitOf(instrument, position, { lots, ticks, cost })
  position.margin = position.margin.minus(shareOf(position, lots, position.margin))
  position.cost = position.cost.minus(cost)
  position.lots -= lots
  position.realised = position.realised.plus(profit)
  return profit
}

function enlargePosition(
  { instrument }: SymbolState,
  position: Position,
  part: TradePart,
  free: Decimal,
): void {
  const { order, lots, ticks } = part
  if (position.marginMode === 'isolated') {
    const wanted = initialMargin(marginValue(instrument, ticks, lots), position.leverage)
    position.margin = position.margin.plus(larger(ZERO, smaller(free, wanted)))
  }
  position.lots += lots
  position.cost = position.cost.plus(quoteValue(instrument, ticks, lots))
  position.takeProfit = order.takeProfit ?? position.takeProfit
  position.stopLoss = order.stopLoss ?? position.stopLoss
}

function startPosition(
  state: CoreState,
  account: ExchangeAccount,
  symbol: SymbolState,
  order: FuturesOrder,
): Position {
  const { now: openedAt, tradeSequence } = state.clock
  const position: Position = {
    sequence: tradeSequence + 1,
    uid: account.setup.uid,
    symbol: order.symbol,
    slot: order.slot,
    holdSide: order.direction === 'buy' ? 'long' : 'short',
    marginMode: order.marginMode,
    leverage: leverageOf(account, symbol.instrument),
    ...NO_POSITION,
    openedAt,
    updatedAt: openedAt,
  }
  account.positions.set(positionKey(position.symbol, position.slot), position)
  symbol.positions.push(position)
  return position
}

function recordFill(
  state: CoreState,
  account: ExchangeAccount,
  { order, ticks, lots, scope, tradeSide, isTwin = false }: TradePart,
  money: Pick<FuturesFill, 'fee' | 'otherFee' | 'profit'>,
): void {
  const sequence = ++state.clock.tradeSequence
  const fill: FuturesFill = {
    sequence,
    ...(isTwin ? { idSequence: sequence - 1 } : {}),
    uid: order.uid,
    symbol: order.symbol,
    orderSequence: order.sequence,
    priceTicks: ticks,
    lots,
    direction: order.direction,
    side: wireSide(order),
    tradeSide: tradeSideText(state, order, tradeSide),
    tradeScope: scope,
    source: order.source,
    ...money,
    at: state.clock.now,
  }
  account.fills.push(fill)
  account.counts.fills++
  state.rows.put(FILLS, fill)
  state.rows.put(ACCOUNTS, account)
  dropOldFills(state, account)
}

function tradeSideText(state: CoreState, order: FuturesOrder, tradeSide: 'open' | 'close'): string {
  if (order.systemTradeSide !== undefined) return order.systemTradeSide
  if (order.slot !== 'net' || state.settings.oneWayTradeSide === 'openClose') return tradeSide
  return order.direction === 'buy' ? 'buy_single' : 'sell_single'
}

function dropOldFills(state: CoreState, account: ExchangeAccount): void {
  const { fillsMax } = state.settings
  if (account.fills.length <= fillsMax * 1.1) return
  const dropped = account.fills.slice(0, account.fills.length - fillsMax)
  account.fills = account.fills.slice(-fillsMax)
  for (const fill of dropped) state.rows.drop(FILLS, fill)
}

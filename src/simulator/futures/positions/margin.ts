import { decimal, quotient, ZERO, type Decimal } from '../../../lib/decimal.ts'
import {
  coinOf,
  leverageOf,
  positionOf,
  symbolOf,
  type Account,
  type CoreState,
  type SymbolState,
} from '../core-state.ts'
import { isOpen } from '../../matching/order-lifecycle.ts'
import { remainingLots, type Order } from '../orders/order.ts'
import {
  baseSize,
  initialMargin,
  maintenanceTier,
  marginValue,
  unrealised,
  type Position,
} from './position.ts'

/** Decimals of displayed quotients: prices, ratios. */
export const DISPLAY_DECIMALS = 10

/** What stands behind the crossed positions of a coin, and what they need. All in the margin coin. */
export interface CrossedStanding {
  /** Balance without isolated margins, plus unrealised profit at the mark. */
  readonly equity: Decimal
  /** Maintenance margin and the fee of closing, of all crossed positions. */
  readonly maintenance: Decimal
}

export function positionsOfCoin(state: CoreState, account: Account, coin: string): Position[] {
  const found: Position[] = []
  for (const position of account.positions.values()) {
    if (symbolOf(state, position.symbol).instrument.marginCoin === coin) found.push(position)
  }
  return found
}

/** The balance that no isolated position has set aside. */
export function unsetBalance(state: CoreState, account: Account, coin: string): Decimal {
  let rest = coinOf(account, coin).balance
  for (const position of positionsOfCoin(state, account, coin)) rest = rest.minus(position.margin)
  return rest
}

/** Maintenance margin plus the taker fee of closing, at the mark: below this a position is liquidated. */
export function maintenanceOf(state: CoreState, position: Position): Decimal {
  const symbol = symbolOf(state, position.symbol)
  const { instrument, markTicks } = symbol
  const value = marginValue(instrument, markTicks, position.lots)
  return value.times(maintenanceRateOf(symbol, position).plus(state.rates.taker))
}

export function maintenanceRateOf(symbol: SymbolState, position: Position): Decimal {
  const { instrument, markTicks } = symbol
  return decimal(
    maintenanceTier(instrument, markTicks * position.lots * instrument.tickFloat * instrument.lotFloat).rate,
  )
}

export function crossedStanding(state: CoreState, account: Account, coin: string): CrossedStanding {
  let equity = unsetBalance(state, account, coin)
  let maintenance = ZERO
  for (const position of positionsOfCoin(state, account, coin)) {
    if (position.marginMode !== 'crossed') continue
    const { instrument, markTicks } = symbolOf(state, position.symbol)
    equity = equity.plus(unrealised(instrument, position, markTicks))
    maintenance = maintenance.plus(maintenanceOf(state, position))
  }
  return { equity, maintenance }
}

/** What a crossed position holds of the balance: its value at entry divided by the leverage. */
export function heldMargin(symbol: SymbolState, position: Position): Decimal {
  if (position.marginMode === 'isolated') return position.margin
  const { instrument } = symbol
  const value = instrument.isInverse ? baseSize(instrument, position.lots) : position.cost
  return initialMargin(value, position.leverage)
}

/** What the account can still open with: crossed equity less what positions and open orders hold. */
export function availableMargin(state: CoreState, account: Account, coin: string): Decimal {
  let available = unsetBalance(state, account, coin)
  for (const position of positionsOfCoin(state, account, coin)) {
    if (position.marginMode === 'isolated') continue
    const symbol = symbolOf(state, position.symbol)
    available = available
      .plus(unrealised(symbol.instrument, position, symbol.markTicks))
      .minus(heldMargin(symbol, position))
  }
  return available.minus(openOrderMargin(state, account, coin))
}

/** What the open orders of a coin hold: initial margin and taker fee of the part that would open. */
function openOrderMargin(state: CoreState, account: Account, coin: string): Decimal {
  const opening = new Map<string, OpeningSum>()
  for (const order of account.openOrders.values()) {
    const symbol = symbolOf(state, order.symbol)
    if (symbol.instrument.marginCoin !== coin || order.action === 'close' || order.reduceOnly) continue
    const sum = openingSumOf(opening, account, symbol)
    addToOpening(sum, order, remainingLots(order))
  }
  let margin = ZERO
  for (const { symbol, tickLots, lots } of opening.values()) {
    margin = margin.plus(openingCost(state, account, symbol, { tickLots, lots }))
  }
  return margin
}

/** Ticks times lots, and lots, that orders of one instrument would open. Integers: exact. */
interface OpeningSum {
  readonly symbol: SymbolState
  tickLots: number
  lots: number
  /** One-way: what buys (sells) first take from a short (long) position. */
  buysReduce: number
  sellsReduce: number
}

function openingSumOf(sums: Map<string, OpeningSum>, account: Account, symbol: SymbolState): OpeningSum {
  const key = symbol.instrument.symbol
  const existing = sums.get(key)
  if (existing !== undefined) return existing
  const net = positionOf(account, key, 'net')
  const created = {
    symbol,
    tickLots: 0,
    lots: 0,
    buysReduce: net?.holdSide === 'short' ? net.lots : 0,
    sellsReduce: net?.holdSide === 'long' ? net.lots : 0,
  }
  sums.set(key, created)
  return created
}

function addToOpening(
  sum: OpeningSum,
  order: Pick<Order, 'direction' | 'slot' | 'priceTicks'>,
  lots: number,
): void {
  let reducing = 0
  if (order.slot === 'net' && order.direction === 'buy') {
    reducing = Math.min(sum.buysReduce, lots)
    sum.buysReduce -= reducing
  } else if (order.slot === 'net') {
    reducing = Math.min(sum.sellsReduce, lots)
    sum.sellsReduce -= reducing
  }
  sum.lots += lots - reducing
  // A market order on its way to matching has no price yet: it holds what it would cost now.
  sum.tickLots += (lots - reducing) * (order.priceTicks || sum.symbol.market.askTicks)
}

function openingCost(
  state: CoreState,
  account: Account,
  symbol: SymbolState,
  { tickLots, lots }: { readonly tickLots: number; readonly lots: number },
): Decimal {
  const { instrument } = symbol
  const value = marginValue(instrument, 1, instrument.isInverse ? lots : tickLots)
  return initialMargin(value, leverageOf(account, instrument)).plus(value.times(state.rates.taker))
}

/** How many lots of an order would open, given the position and the account's other open orders. */
export function openingLots(
  account: Account,
  order: Pick<Order, 'symbol' | 'direction' | 'slot' | 'action' | 'reduceOnly' | 'lots'>,
): number {
  if (order.action === 'close' || order.reduceOnly) return 0
  if (order.slot !== 'net') return order.lots
  const net = positionOf(account, order.symbol, 'net')
  if (net === undefined || (net.holdSide === 'long') === (order.direction === 'buy')) return order.lots
  let reducible = net.lots
  for (const other of account.openOrders.values()) {
    if (other.symbol === order.symbol && other.direction === order.direction && isOpen(other)) {
      reducible -= remainingLots(other)
    }
  }
  return order.lots - Math.max(0, Math.min(order.lots, reducible))
}

/** Initial margin and fee that opening lots at a price takes. */
export function costOfOpening(
  state: CoreState,
  account: Account,
  symbol: SymbolState,
  open: { readonly ticks: number; readonly lots: number },
): Decimal {
  return openingCost(state, account, symbol, { tickLots: open.ticks * open.lots, lots: open.lots })
}

/**
 * The mark price (quote coin) at which the position would be liquidated if nothing else moved; undefined
 * when there is none. Solves margin + profit(p) = (maintenance + fee rate) * value(p) for p.
 */
export function liquidationPrice(
  state: CoreState,
  account: Account,
  position: Position,
): Decimal | undefined {
  const symbol = symbolOf(state, position.symbol)
  const { instrument } = symbol
  const rate = maintenanceRateOf(symbol, position).plus(state.rates.taker)
  const size = baseSize(instrument, position.lots)
  const margin =
    position.marginMode === 'isolated' ? position.margin : crossedMarginBehind(state, account, position)
  const one = decimal('1')
  const [numerator, denominator] = instrument.isInverse
    ? position.holdSide === 'long'
      ? [position.cost, margin.plus(size.times(one.minus(rate)))]
      : [position.cost, size.times(one.plus(rate)).minus(margin)]
    : position.holdSide === 'long'
      ? [position.cost.minus(margin), size.times(one.minus(rate))]
      : [position.cost.plus(margin), size.times(one.plus(rate))]
  if (denominator.lte(ZERO) || numerator.lte(ZERO)) return undefined
  return quotient(numerator, denominator, { decimals: DISPLAY_DECIMALS })
}

/** Crossed equity and maintenance of everything but this position. */
function crossedMarginBehind(state: CoreState, account: Account, position: Position): Decimal {
  const { instrument, markTicks } = symbolOf(state, position.symbol)
  const { equity, maintenance } = crossedStanding(state, account, instrument.marginCoin)
  return equity
    .minus(unrealised(instrument, position, markTicks))
    .minus(maintenance.minus(maintenanceOf(state, position)))
}

/** Maintenance need divided by what stands behind it: at 1 the position is liquidated. */
export function marginRatio(state: CoreState, account: Account, position: Position): Decimal {
  const { instrument, markTicks } = symbolOf(state, position.symbol)
  const isolated = position.marginMode === 'isolated'
  const standing = isolated
    ? {
        equity: position.margin.plus(unrealised(instrument, position, markTicks)),
        maintenance: maintenanceOf(state, position),
      }
    : crossedStanding(state, account, instrument.marginCoin)
  if (standing.equity.lte(ZERO)) return decimal('1')
  return quotient(standing.maintenance, standing.equity, { decimals: DISPLAY_DECIMALS })
}

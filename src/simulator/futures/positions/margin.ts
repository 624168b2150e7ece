import { decimal, quotient, sumDecimals, ZERO, type Decimal } from '../../../lib/decimal.ts'
import {
  coinOf,
  leverageOf,
  positionOf,
  symbolOf,
  type ExchangeAccount,
  type CoreState,
  type SymbolState,
} from '../core-state.ts'
import { tradeFee } from '../../wallet/fees.ts'
import { negated } from '../../wallet/rounding.ts'
import type { ListedContract } from '../instruments/instruments.ts'
import {
  mayOpen,
  reduces,
  remainingLots,
  type FuturesOrder,
  type FuturesOrderTerms,
} from '../orders/order.ts'
import {
  baseSize,
  initialMargin,
  maintenanceTier,
  marginValue,
  unrealised,
  type Position,
} from './position.ts'

export const DISPLAY_DECIMALS = 10

export interface MarginLevel {
  /**
   * Margin and unrealised profit at the mark price. Crossed positions have as margin the balance
   * without isolated margins.
   */
  readonly equity: Decimal
  readonly maintenance: Decimal
}

export function positionsOfCoin(
  state: CoreState,
  account: ExchangeAccount,
  coin: string,
): Position[] {
  return [...account.positions.values()].filter(
    ({ symbol }) => symbolOf(state, symbol).instrument.marginCoin === coin,
  )
}

export function unsetBalance(state: CoreState, account: ExchangeAccount, coin: string): Decimal {
  let rest = coinOf(account, coin).balance
  for (const position of positionsOfCoin(state, account, coin)) rest = rest.minus(position.margin)
  return rest
}

function maintenanceOf(state: CoreState, position: Position): Decimal {
  const symbol = symbolOf(state, position.symbol)
  const value = marginValue(symbol.instrument, symbol.markTicks, position.lots)
  return value.times(maintenanceRateOf(symbol, position).plus(state.rates.taker))
}

export function maintenanceRateOf(symbol: SymbolState, position: Position): Decimal {
  const { instrument, markTicks } = symbol
  return decimal(
    maintenanceTier(
      instrument,
      markTicks * position.lots * instrument.tickFloat * instrument.lotFloat,
    ).rate,
  )
}

export function isolatedStanding(state: CoreState, position: Position): MarginLevel {
  const { instrument, markTicks } = symbolOf(state, position.symbol)
  const equity = position.margin.plus(unrealised(instrument, position, markTicks))
  return { equity, maintenance: maintenanceOf(state, position) }
}

export function crossedStanding(
  state: CoreState,
  account: ExchangeAccount,
  coin: string,
): MarginLevel {
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

const FLOAT_SLACK = 1e-6

export interface FloatMarginLevel {
  readonly positions: readonly Position[]
  readonly equity: number
  readonly need: number
}

export function floatStanding(
  state: CoreState,
  account: ExchangeAccount,
  marginCoin: string,
  position: Position,
): FloatMarginLevel {
  const isIsolated = position.marginMode === 'isolated'
  const ofCoin = isIsolated ? [position] : positionsOfCoin(state, account, marginCoin)
  const positions = ofCoin.filter(({ marginMode }) => marginMode === position.marginMode)
  let equity = isIsolated ? position.marginFloat : coinOf(account, marginCoin).balanceFloat
  if (!isIsolated) for (const { marginFloat } of ofCoin) equity -= marginFloat
  let need = 0
  for (const { symbol, lots, holdSide, costFloat } of positions) {
    const { instrument, markTicks } = symbolOf(state, symbol)
    const price = markTicks * instrument.tickFloat
    const size = lots * instrument.lotFloat
    const value = price * size
    const gain = holdSide === 'long' ? value - costFloat : costFloat - value
    const { rate } = closingNeed(state, instrument, value)
    equity += instrument.isInverse ? gain / price : gain
    need += (instrument.isInverse ? size : value) * rate
  }
  return { positions, equity, need }
}

export function isNear({ equity, need }: FloatMarginLevel): boolean {
  return equity - need <= FLOAT_SLACK * (Math.abs(equity) + need)
}

/** Share of a position's value, and the value up to which it applies. */
export function closingNeed(
  state: CoreState,
  instrument: ListedContract,
  value: number,
): { notionalMax: number; rate: number } {
  const { notionalMax, rateFloat } = maintenanceTier(instrument, value)
  return { notionalMax, rate: rateFloat + state.rates.takerFloat }
}

export function heldMargin(symbol: SymbolState, position: Position): Decimal {
  if (position.marginMode === 'isolated') return position.margin
  const { instrument } = symbol
  const value = instrument.isInverse ? baseSize(instrument, position.lots) : position.cost
  return initialMargin(value, position.leverage)
}

export function availableMargin(state: CoreState, account: ExchangeAccount, coin: string): Decimal {
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

function openOrderMargin(state: CoreState, account: ExchangeAccount, coin: string): Decimal {
  const opening = [...account.openOrders.values()].filter(
    (order) => mayOpen(order) && symbolOf(state, order.symbol).instrument.marginCoin === coin,
  )
  const bySymbol = Map.groupBy(opening, ({ symbol }) => symbolOf(state, symbol))
  return sumDecimals(
    [...bySymbol].map(([symbol, orders]) => openingCostOf(state, account, symbol, orders)),
  )
}

/**
 * Takes the oldest order first, because lots that reduce an opposite one-way position open nothing.
 */
function openingCostOf(
  state: CoreState,
  account: ExchangeAccount,
  symbol: SymbolState,
  orders: readonly FuturesOrder[],
): Decimal {
  const net = positionOf(account, symbol.instrument.symbol, 'net')
  let reducible = net?.lots ?? 0
  const opened = { tickLots: 0, lots: 0 }
  for (const order of orders) {
    const reducing =
      net !== undefined && order.slot === 'net' && reduces(order, net)
        ? Math.min(reducible, remainingLots(order))
        : 0
    reducible -= reducing
    const lots = remainingLots(order) - reducing
    opened.lots += lots
    // A market order has no price before its matching, so it counts at the present ask.
    opened.tickLots += lots * (order.priceTicks || symbol.market.askTicks)
  }
  return openingCost(state, account, symbol, opened)
}

export function openingCost(
  state: CoreState,
  account: ExchangeAccount,
  { instrument }: SymbolState,
  { tickLots, lots }: { readonly tickLots: number; readonly lots: number },
): Decimal {
  const value = marginValue(instrument, 1, instrument.isInverse ? lots : tickLots)
  const margin = initialMargin(value, leverageOf(account, instrument))
  return margin.plus(tradeFee(value, state.rates, 'taker'))
}

export function openingLots(account: ExchangeAccount, order: FuturesOrderTerms): number {
  if (!mayOpen(order)) return 0
  const net = order.slot === 'net' ? positionOf(account, order.symbol, 'net') : undefined
  if (net === undefined || !reduces(order, net)) return order.lots
  let reducible = net.lots
  for (const other of account.openOrders.values()) {
    if (other.symbol === order.symbol && other.direction === order.direction)
      reducible -= remainingLots(other)
  }
  return order.lots - Math.max(0, Math.min(order.lots, reducible))
}

/** The nearer of two prices in the quote coin, if no other instrument moves. */
export function liquidationPrice(
  state: CoreState,
  account: ExchangeAccount,
  position: Position,
): Decimal | undefined {
  const symbol = symbolOf(state, position.symbol)
  const legs = legsOf(account, position)
  const behind =
    position.marginMode === 'isolated' ? position.margin : crossedMarginBehind(state, account, legs)
  const spans = tierSpans(symbol, legs).map((span) => ({
    ...span,
    line: liquidationLine(state, symbol, { legs, behind, at: span.within }),
  }))
  const mark = symbol.markTicks * symbol.instrument.tickFloat
  const [below, above] = [crossingBelow(spans, mark), crossingAbove(spans, mark)]
  if (below === undefined || above === undefined) return below ?? above
  return mark - toFloat(below) <= toFloat(above) - mark ? below : above
}

function legsOf({ positions }: ExchangeAccount, position: Position): readonly Position[] {
  if (position.marginMode === 'isolated') return [position]
  return [...positions.values()].filter(
    ({ symbol, marginMode }) => symbol === position.symbol && marginMode === 'crossed',
  )
}

/**
 * Between these prices, in quote coin, a position stays in its maintenance tiers. Spans are
 * ascending.
 */
interface MaintenanceSpan {
  readonly from: number
  readonly to: number
  readonly within: number
}

function tierSpans(
  { instrument }: SymbolState,
  legs: readonly Position[],
): readonly MaintenanceSpan[] {
  const ends = instrument.maintenanceTiers.flatMap(({ notionalMax }) =>
    legs.map(({ lots }) => notionalMax / (lots * instrument.lotFloat)),
  )
  const bounds = [...new Set([0, ...ends])].toSorted((one, other) => one - other)
  return bounds.slice(1).map((to, index) => {
    const from = bounds[index] ?? 0
    return { from, to, within: Number.isFinite(to) ? (from + to) / 2 : from * 2 + 1 }
  })
}

/** While slope * price + rest is above zero, the positions meet their need. */
interface LiquidationLine {
  readonly slope: Decimal
  readonly rest: Decimal
}

interface LiquidatedLegs {
  readonly legs: readonly Position[]
  readonly behind: Decimal
  readonly at: number
}

/**
 * Linear: behind + gain(p) = need(p). Inverse: the same in base coin, times p, since the gain is
 * size - cost / p.
 */
function liquidationLine(
  state: CoreState,
  { instrument }: SymbolState,
  { legs, behind, at }: LiquidatedLegs,
): LiquidationLine {
  let [slope, rest] = instrument.isInverse ? [behind, ZERO] : [ZERO, behind]
  for (const { lots, holdSide, cost } of legs) {
    const size = baseSize(instrument, lots)
    const { rate } = maintenanceTier(instrument, at * lots * instrument.lotFloat)
    const need = size.times(decimal(rate).plus(state.rates.taker))
    const isLong = holdSide === 'long'
    slope = (isLong ? slope.plus(size) : slope.minus(size)).minus(need)
    rest = isLong ? rest.minus(cost) : rest.plus(cost)
  }
  return { slope, rest }
}

type LiquidationSpan = MaintenanceSpan & { readonly line: LiquidationLine }

function crossingOf({ slope, rest }: LiquidationLine): Decimal | undefined {
  if (slope.eq(ZERO) || rest.eq(ZERO) || slope.gt(ZERO) === rest.gt(ZERO)) return undefined
  return quotient(negated(rest), slope, { decimals: DISPLAY_DECIMALS })
}

const toFloat = (price: Decimal): number => Number(price.toString())

function crossingBelow(spans: readonly LiquidationSpan[], mark: number): Decimal | undefined {
  for (const { from, to, line } of spans.toReversed()) {
    const price = crossingOf(line)
    const at = price === undefined ? Number.NaN : toFloat(price)
    if (at > from && at <= Math.min(to, mark)) return price
  }
  return undefined
}

function crossingAbove(spans: readonly LiquidationSpan[], mark: number): Decimal | undefined {
  for (const { from, to, line } of spans) {
    if (to <= mark) continue
    if (
      from > mark &&
      line.slope
        .times(decimal(String(from)))
        .plus(line.rest)
        .lte(ZERO)
    )
      return decimal(String(from)).round(DISPLAY_DECIMALS)
    const price = crossingOf(line)
    const at = price === undefined ? Number.NaN : toFloat(price)
    if (at > Math.max(from, mark) && at <= to) return price
  }
  return undefined
}

function crossedMarginBehind(
  state: CoreState,
  account: ExchangeAccount,
  legs: readonly Position[],
): Decimal {
  const [position] = legs
  if (position === undefined) return ZERO
  const { instrument, markTicks } = symbolOf(state, position.symbol)
  const { equity, maintenance } = crossedStanding(state, account, instrument.marginCoin)
  return legs.reduce(
    (rest, leg) =>
      rest.minus(unrealised(instrument, leg, markTicks)).plus(maintenanceOf(state, leg)),
    equity.minus(maintenance),
  )
}

export function marginRatio(
  state: CoreState,
  account: ExchangeAccount,
  position: Position,
): Decimal {
  const { equity, maintenance } =
    position.marginMode === 'isolated'
      ? isolatedStanding(state, position)
      : crossedStanding(state, account, symbolOf(state, position.symbol).instrument.marginCoin)
  return equity.lte(ZERO)
    ? decimal('1')
    : quotient(maintenance, equity, { decimals: DISPLAY_DECIMALS })
}

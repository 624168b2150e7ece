import { ZERO } from '../../../lib/decimal.ts'
import { negated } from '../../wallet/rounding.ts'
import {
  accountOf,
  coinOf,
  forgetBand,
  symbolOf,
  type ExchangeAccount,
  type CoreState,
  type SymbolState,
} from '../core-state.ts'
import { bookFor, coverDebt } from './settle-trade.ts'
import {
  closingNeed,
  crossedStanding,
  floatStanding,
  isNear,
  isolatedStanding,
  positionsOfCoin,
  type MarginLevel,
} from './margin.ts'
import { cancelClosingOrders, cancelOrder } from '../orders/order-lifecycle.ts'
import { positionKey, unrealised, type Position } from './position.ts'
import { ACCOUNTS, POSITIONS } from '../stored-entities.ts'
import { closePosition } from './system-close.ts'

/**
 * Liquidation begins when equity no longer exceeds the maintenance margin and the closing fee at
 * the mark price (docs/simulator.md, "Liquidation"). The fills have source SYS and pay the taker
 * fee.
 */

/**
 * Within the safe band nothing is computed. Outside of it floats decide, and decimals where it is
 * close.
 */
export function liquidateAtMark(state: CoreState, symbol: SymbolState): void {
  const { markTicks, safe } = symbol
  if (markTicks >= safe.fromTicks && markTicks <= safe.toTicks) return
  safe.fromTicks = 0
  safe.toTicks = Number.POSITIVE_INFINITY
  for (const position of symbol.positions.slice()) {
    if (position.lots === 0) continue
    const account = accountOf(state, position.uid)
    const { marginCoin } = symbol.instrument
    const standing = floatStanding(state, account, marginCoin, position)
    if (!isNear(standing)) {
      const { positions, equity, need } = standing
      for (const one of positions) narrowBand(state, one, (equity - need) / 2 / positions.length)
      continue
    }
    forgetBand(symbol)
    if (position.marginMode === 'isolated') liquidateIsolated(state, account, symbol, position)
    else liquidateCrossed(state, account, marginCoin)
  }
}

function liquidateIsolated(
  state: CoreState,
  account: ExchangeAccount,
  symbol: SymbolState,
  position: Position,
): void {
  const isStanding = () => stands(isolatedStanding(state, position))
  if (isStanding()) return
  cancelClosingOrders(state, position, 'liquidation')
  countLiquidation(state, account)
  closeInSteps(state, symbol, position, isStanding)
}

function stands({ equity, maintenance }: MarginLevel): boolean {
  return equity.gt(maintenance)
}

function liquidateCrossed(state: CoreState, account: ExchangeAccount, coin: string): void {
  const isStanding = () => {
    const standing = crossedStanding(state, account, coin)
    return standing.maintenance.lte(ZERO) || stands(standing)
  }
  if (isStanding()) return
  for (const order of Array.from(account.openOrders.values())) {
    const isOfCoin = symbolOf(state, order.symbol).instrument.marginCoin === coin
    if (isOfCoin && order.marginMode === 'crossed') cancelOrder(state, order, 'liquidation')
  }
  const crossed = positionsOfCoin(state, account, coin).filter(
    ({ marginMode }) => marginMode === 'crossed',
  )
  const forced = new Set(crossed.flatMap((position) => offset(state, account, position)))
  const losses = crossed
    .filter(({ lots }) => lots > 0)
    .map((position) => {
      const { instrument, markTicks } = symbolOf(state, position.symbol)
      return { position, profit: unrealised(instrument, position, markTicks) }
    })
    .sort((a, b) => a.profit.cmp(b.profit))
  for (const { position } of losses) {
    if (isStanding()) break
    forced.add(position)
    closeInSteps(state, symbolOf(state, position.symbol), position, isStanding)
  }
  for (let count = forced.size; count > 0; count--) countLiquidation(state, account)
  coverDebt(state, account, coin)
}

function countLiquidation(state: CoreState, account: ExchangeAccount): void {
  account.counts.liquidations++
  state.rows.put(ACCOUNTS, account)
}

function offset(
  state: CoreState,
  account: ExchangeAccount,
  position: Position,
): readonly Position[] {
  const short = account.positions.get(positionKey(position.symbol, 'short'))
  if (position.slot !== 'long' || short?.marginMode !== 'crossed') return []
  const lots = Math.min(position.lots, short.lots)
  closePosition(state, position, { lots, tradeSide: 'offset_close_long' })
  closePosition(state, short, { lots, tradeSide: 'offset_close_short' })
  return [position, short]
}

function closeInSteps(
  state: CoreState,
  symbol: SymbolState,
  position: Position,
  isStanding: () => boolean,
): void {
  while (position.lots > 0 && !isStanding()) {
    const before = position.lots
    const above = lotsAboveTier(symbol, position)
    const kind = above > 0 ? 'reduce' : 'burst'
    closeForced(state, symbol, position, {
      lots: above > 0 ? above : before,
      tradeSide: `${kind}_close_${position.holdSide}`,
    })
    state.rows.put(POSITIONS, position)
    if (position.lots === before) return
  }
}

function lotsAboveTier({ instrument, markTicks }: SymbolState, { lots }: Position): number {
  const { maintenanceTiers, tickFloat, lotFloat } = instrument
  const lotValue = markTicks * tickFloat * lotFloat
  const below = maintenanceTiers.findLast(({ notionalMax }) => notionalMax < lots * lotValue)
  return below === undefined ? 0 : lots - Math.floor(below.notionalMax / lotValue)
}

/** The insurance fund pays what exceeds the margin of an isolated position. */
function closeForced(
  state: CoreState,
  { instrument }: SymbolState,
  position: Position,
  closing: { readonly lots: number; readonly tradeSide: string },
): void {
  if (position.marginMode === 'crossed') return closePosition(state, position, closing)
  const account = accountOf(state, position.uid)
  const coin = instrument.marginCoin
  const { margin } = position
  const before = coinOf(account, coin).balance
  closePosition(state, position, closing)
  const lacking = coinOf(account, coin).balance.minus(before).plus(margin.minus(position.margin))
  if (lacking.lt(ZERO))
    bookFor(state, account, { coin, booking: 'insurance', amount: negated(lacking) })
}

/**
 * The loss of an inverse position grows faster as the price falls, so its bound holds only within
 * this share of the price.
 */
const INVERSE_REACH = 0.2

/** @param loss margin coin, with the growth of the maintenance margin */
function narrowBand(state: CoreState, position: Position, loss: number): void {
  const { instrument, markTicks, safe } = symbolOf(state, position.symbol)
  const { tickFloat, lotFloat, isInverse } = instrument
  const size = position.lots * lotFloat
  const { notionalMax, rate } = closingNeed(state, instrument, markTicks * tickFloat * size)
  const lowest = isInverse ? markTicks * (1 - INVERSE_REACH) : 0
  const lossPerTick = isInverse
    ? position.costFloat / (lowest * lowest * tickFloat)
    : size * (1 + rate) * tickFloat
  const reach = loss / lossPerTick
  const tierEnd = notionalMax / (size * tickFloat)
  safe.fromTicks = Math.max(safe.fromTicks, lowest, markTicks - reach)
  safe.toTicks = Math.min(safe.toTicks, markTicks + reach, tierEnd)
}

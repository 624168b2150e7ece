import { ZERO } from '../../lib/decimal.ts'
import { accountOf, coinOf, symbolOf, type Account, type CoreState, type SymbolState } from './core-state.ts'
import { bookFor, coverDebt } from './execute-fill.ts'
import { crossedStanding, maintenanceOf, positionsOfCoin } from './margin.ts'
import { cancelOrder, closingOrders } from './order-lifecycle.ts'
import { maintenanceTier, positionKey, unrealised, type Position } from './position.ts'
import { putAccount, putPosition } from './record-changes.ts'
import { closePosition } from './system-close.ts'

/*
 * Liquidation. A position (isolated), or all crossed positions of a margin coin together, are closed by the
 * system when what stands behind them no longer exceeds their maintenance margin plus the fee of closing,
 * at the mark price. Fills carry SYS and burst_close_long/short and pay the taker fee. What the loss leaves
 * below zero the insurance fund pays. Positions close whole; the partial liquidations that the document
 * names (reduce_close, offset_close) do not happen here.
 */

/** Floats are this far from the exact figures at most (relative); within it the exact check decides. */
const FLOAT_SLACK = 1e-6

/** Checks the positions of one instrument at a new mark price: floats first, decimals when it is close. */
export function liquidateAtMark(state: CoreState, symbol: SymbolState): void {
  if (symbol.positions.length === 0) return
  for (const position of symbol.positions.slice()) {
    if (position.lots === 0 || !isNearLiquidation(state, symbol, position)) continue
    const account = accountOf(state, position.uid)
    if (position.marginMode === 'isolated') liquidateIsolated(state, account, symbol, position)
    else liquidateCrossed(state, account, symbol.instrument.marginCoin)
  }
}

function liquidateIsolated(
  state: CoreState,
  account: Account,
  symbol: SymbolState,
  position: Position,
): void {
  const { instrument, markTicks } = symbol
  const equity = position.margin.plus(unrealised(instrument, position, markTicks))
  if (equity.gt(maintenanceOf(state, position))) return
  for (const order of closingOrders(account, position)) cancelOrder(state, order, 'liquidation')
  const coin = instrument.marginCoin
  const { margin } = position
  const before = coinOf(account, coin).balance
  liquidate(state, account, position)
  const lacking = coinOf(account, coin).balance.minus(before).plus(margin)
  if (lacking.lt(ZERO)) bookFor(state, account, { coin, booking: 'insurance', amount: lacking.times('-1') })
}

/** Closes crossed positions, the largest loss first, until the rest stands again. */
function liquidateCrossed(state: CoreState, account: Account, coin: string): void {
  if (!isCrossedBelow(state, account, coin)) return
  for (const order of [...account.openOrders.values()]) {
    const isOfCoin = symbolOf(state, order.symbol).instrument.marginCoin === coin
    if (isOfCoin && order.marginMode === 'crossed') cancelOrder(state, order, 'liquidation')
  }
  const crossed = positionsOfCoin(state, account, coin)
    .filter(({ marginMode }) => marginMode === 'crossed')
    .map((position) => {
      const { instrument, markTicks } = symbolOf(state, position.symbol)
      return { position, profit: unrealised(instrument, position, markTicks) }
    })
    .sort((a, b) => a.profit.cmp(b.profit))
  for (const { position } of crossed) {
    if (!isCrossedBelow(state, account, coin)) break
    liquidate(state, account, position)
  }
  coverDebt(state, account, coin)
}

function isCrossedBelow(state: CoreState, account: Account, coin: string): boolean {
  const { equity, maintenance } = crossedStanding(state, account, coin)
  return maintenance.gt(ZERO) && equity.lte(maintenance)
}

function liquidate(state: CoreState, account: Account, position: Position): void {
  account.counts.liquidations++
  putAccount(state, account)
  closePosition(state, position, position.holdSide === 'long' ? 'burst_close_long' : 'burst_close_short')
  // A position whose orders all ended leaves the account; one that could not close (no quote) stays.
  if (account.positions.get(positionKey(position.symbol, position.slot)) === position)
    putPosition(state, position)
}

function isNearLiquidation(state: CoreState, symbol: SymbolState, position: Position): boolean {
  if (position.marginMode === 'isolated') {
    const { profit, need } = floatsOf(state, symbol, position)
    return isNear(position.marginFloat + profit, need)
  }
  const account = accountOf(state, position.uid)
  const coin = symbol.instrument.marginCoin
  let equity = coinOf(account, coin).balanceFloat
  let need = 0
  for (const other of account.positions.values()) {
    const otherSymbol = symbolOf(state, other.symbol)
    if (otherSymbol.instrument.marginCoin !== coin) continue
    if (other.marginMode === 'isolated') {
      equity -= other.marginFloat
      continue
    }
    const floats = floatsOf(state, otherSymbol, other)
    equity += floats.profit
    need += floats.need
  }
  return isNear(equity, need)
}

function isNear(equity: number, need: number): boolean {
  return equity - need <= FLOAT_SLACK * (Math.abs(equity) + need)
}

/** Unrealised profit, and maintenance with closing fee, in the margin coin. */
function floatsOf(
  state: CoreState,
  symbol: SymbolState,
  position: Position,
): { profit: number; need: number } {
  const { instrument, markTicks } = symbol
  const price = markTicks * instrument.tickFloat
  const size = position.lots * instrument.lotFloat
  const value = price * size
  const gain = position.holdSide === 'long' ? value - position.costFloat : position.costFloat - value
  const rate = maintenanceTier(instrument, value).rateFloat + state.rates.takerFloat
  return instrument.isInverse
    ? { profit: gain / price, need: size * rate }
    : { profit: gain, need: value * rate }
}

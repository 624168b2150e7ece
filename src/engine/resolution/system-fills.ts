import { type Fill, type FillKind, isLiquidation } from '../../domain/fill.ts'
import { feeOf, profitOf } from '../../domain/fill-money.ts'
import { type Decimal, decimalOfInteger, quotient, sumDecimals, ZERO } from '../../lib/decimal.ts'
import { showOnGrid } from '../../lib/grid.ts'
import { findFilledExit } from '../book/kept-exits.ts'
import { announce, type Core, specOf } from '../state/core.ts'

/** What the system did to a position, in words. */
const DEEDS: Readonly<Record<Exclude<FillKind, 'trade' | 'system'>, string>> = {
  liquidation: 'a liquidation',
  partialLiquidation: 'a partial liquidation, to bring the margin back',
  netting: 'a partial liquidation, by netting both sides',
  delivery: 'the delivery of the contract',
  autoDeleveraging: 'an auto-deleveraging, against the liquidation of somebody else',
  takeProfit: 'the take-profit',
  stopLoss: 'the stop-loss',
}

/** An average price is given in hundredths of a tick. */
const TICK_DECIMALS = 2

/** Whether {@link announceSystemFills} says it, so that it is not called a fill of a stranger as well. */
export function isAnnounced({ fillKind = 'trade' }: Fill): boolean {
  return fillKind !== 'trade' && fillKind !== 'system'
}

/**
 * Says what the system did, once for all fills of a reading by which it did one thing to one instrument: with what was
 * closed, at which average price, and what that has come to.
 */
export function announceSystemFills(core: Core, fills: readonly Fill[]): void {
  const deeds = fills.filter(isAnnounced)
  if (deeds.length === 0) return
  const groups = Map.groupBy(deeds, ({ symbol, side, fillKind }) => `${symbol} ${side} ${fillKind}`)
  for (const [first, ...others] of groups.values())
    if (first) announceDeed(core, [first, ...others])
}

function announceDeed(core: Core, fills: readonly [Fill, ...Fill[]]): void {
  const [fill] = fills
  const { symbol, side, fillKind: kind } = fill
  const deed = { symbol, side, kind, ...sumUp(core, fills) }
  if (isLiquidation(fill)) return announce(core, 'error', 'fill.liquidated', deed)
  if (kind === 'autoDeleveraging') return announce(core, 'error', 'fill.deleveraged', deed)
  if (kind === 'delivery') return announce(core, 'info', 'fill.delivered', deed)
  const { clientOid, strategyId: strategy, price: set } = fill.exit ?? {}
  announce(core, 'info', 'fill.exit', { ...deed, set, clientOid, strategy })
}

/** Size, average price and money of fills; `net` is left out where a part is not known. */
function sumUp(core: Core, fills: readonly Fill[]) {
  const spec = specOf(core, fills[0]?.symbol ?? '')
  const lots = fills.reduce((sum, fill) => sum + fill.lots, 0)
  const worth = sumDecimals(
    fills.map((fill) => decimalOfInteger(fill.ticks).times(decimalOfInteger(fill.lots))),
  )
  const ticks = quotient(worth, decimalOfInteger(lots), { decimals: TICK_DECIMALS })
  const [profit, fee] = [sumOf(fills, profitOf), sumOf(fills, feeOf)]
  const [isProfitKnown, isFeeKnown] = [
    fills.every((fill) => fill.profit !== undefined),
    fills.every((fill) => fill.fee !== undefined),
  ]
  return {
    size: showOnGrid(spec.lot, lots),
    price: ticks.times(spec.tick.step).toString(),
    net: isProfitKnown && isFeeKnown ? profit.minus(fee).toString() : undefined,
    profit: isProfitKnown ? profit.toString() : 'unknown',
    fee: isFeeKnown ? fee.toString() : 'unknown',
    fills: fills.length,
    tradeIds: fills.map(({ tradeId }) => tradeId),
    orderIds: [...new Set(fills.map(({ orderId }) => orderId))],
  }
}

function sumOf(fills: readonly Fill[], of: (fill: Fill) => Decimal): Decimal {
  return fills.reduce((sum, fill) => sum.plus(of(fill)), ZERO)
}

/** What a fill of no order of ours was: by its kind, by what we set, or as far as that is known. */
export function describeForeign(core: Core, fill: Fill): string {
  const { fillKind = 'trade', source, systemWord, symbol } = fill
  if (fillKind !== 'trade' && fillKind !== 'system') return DEEDS[fillKind]
  const exit = findFilledExit(core.book, fill)
  if (exit) {
    const price = showOnGrid(specOf(core, symbol).tick, exit.ticks)
    return `${DEEDS[exit.kind]} at ${price}, set by order ${exit.clientOid} (${exit.strategyId}) and kept by the exchange (to trade on after such fills, set risk.foreignFills: adopt)`
  }
  if (systemWord !== undefined)
    return `the exchange closed something as "${systemWord}", a word that is not known here`
  const what = describeTrade(core, fill)
  return source === 'SYS' ? `${what}, by the exchange, which does not say why` : what
}

/** `open long, source API` in hedge mode; in one-way mode the wire does not say whether a position was opened or closed. */
function describeTrade({ settings }: Core, { side, tradeSide, source }: Fill): string {
  if (settings.positionMode === 'one_way_mode') return `${side}, source ${source}`
  return `${tradeSide} ${side === 'buy' ? 'long' : 'short'}, source ${source}`
}

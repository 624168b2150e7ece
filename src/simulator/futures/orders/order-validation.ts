import { parseOnGrid } from '../../../lib/grid.ts'
import { type BatchPlaceItem } from '../../../protocol/futures/batch-place-order.ts'
import { type Account, type CoreState, type SymbolState } from '../core-state.ts'
import { priceText } from '../instruments/instruments.ts'
import {
  tradeDirection,
  type MarginMode,
  type OrderTerms,
  type PositionSlot,
  type PositionTrigger,
} from './order.ts'
import { refusals } from '../refusals.ts'
import { type Refusal } from '../../shared/reply.ts'

/** Either what was read, or why it is refused. */
export type Checked<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly refusal: Refusal }

export function checked<Value>(value: Value): Checked<Value> {
  return { ok: true, value }
}

export function refused(refusal: Refusal): { ok: false; refusal: Refusal } {
  return { ok: false, refusal }
}

/** Reads a size in base coin into lots. */
export function readSize(symbol: SymbolState, text: string): Checked<number> {
  const { sizeGrid, lotsMin, limitLotsMax, lotFloat } = symbol.instrument
  const lots = parseOnGrid(sizeGrid, text)
  if (lots !== undefined) return lots < lotsMin ? refused(refusals.sizeBelowMinimum()) : checked(lots)
  if (Number(text) < lotsMin * lotFloat) return refused(refusals.sizeBelowMinimum())
  if (Number(text) > limitLotsMax * lotFloat) return refused(refusals.sizeAboveMaximum())
  const decimals = text.split('.')[1]?.length ?? 0
  return refused(
    decimals > sizeGrid.decimals
      ? refusals.scale('size', text, sizeGrid.decimals)
      : refusals.sizeStep(sizeGrid.step),
  )
}

/** Reads a price in quote coin into ticks. */
export function readPrice(symbol: SymbolState, text: string): Checked<number> {
  const { priceGrid } = symbol.instrument
  const ticks = parseOnGrid(priceGrid, text)
  return ticks === undefined || ticks <= 0 ? refused(refusals.priceStep(priceGrid.step)) : checked(ticks)
}

/** Which position an order of the account works on, and whether it opens or closes it. */
export function readAction(
  account: Account,
  item: Pick<BatchPlaceItem, 'side' | 'tradeSide'>,
): Pick<OrderTerms, 'slot' | 'action' | 'direction'> {
  if (account.setup.positionMode === 'one_way_mode' || item.tradeSide === undefined) {
    return { slot: 'net', action: 'net', direction: item.side }
  }
  const slot: PositionSlot = item.side === 'buy' ? 'long' : 'short'
  return { slot, action: item.tradeSide, direction: tradeDirection(item.side, item.tradeSide) }
}

/** Whether an item's tradeSide fits the account's position mode. Document: Errors, 4. */
export function fitsPositionMode(account: Account, item: Pick<BatchPlaceItem, 'tradeSide'>): boolean {
  return (account.setup.positionMode === 'hedge_mode') === (item.tradeSide !== undefined)
}

/**
 * Reads one item of a batch into the terms of an order: numbers on their grids, sides into directions.
 * reduceOnly has no meaning in hedge mode, presets none on an order that closes: both are ignored there.
 */
export function readOrder(
  state: CoreState,
  account: Account,
  {
    symbol,
    item,
    marginMode,
  }: { readonly symbol: SymbolState; readonly item: BatchPlaceItem; readonly marginMode: MarginMode },
): Checked<OrderTerms> {
  const size = readSize(symbol, item.size)
  if (!size.ok) return size
  const price = item.orderType === 'limit' ? readPrice(symbol, item.price ?? '') : checked(0)
  if (!price.ok) return price
  const action = readAction(account, item)
  const reduceOnly = action.slot === 'net' && item.reduceOnly === 'YES'
  const canOpen = action.action !== 'close' && !reduceOnly
  const reference = price.value > 0 ? price.value : symbol.market.lastTicks
  const presets = canOpen ? item : {}
  const exits = readPresets(state, symbol, { presets, isLong: action.direction === 'buy', reference })
  if (!exits.ok) return exits
  return checked({
    uid: account.setup.uid,
    symbol: symbol.instrument.symbol,
    clientOid: item.clientOid,
    ...action,
    reduceOnly,
    marginMode,
    orderType: item.orderType,
    force: item.force ?? 'gtc',
    stpMode: item.stpMode ?? 'none',
    priceTicks: price.value,
    lots: size.value,
    ...exits.value,
    source: 'API',
    systemTradeSide: undefined,
  })
}

interface Exits {
  readonly takeProfit: PositionTrigger | undefined
  readonly stopLoss: PositionTrigger | undefined
}

interface PresetContext {
  readonly presets: Pick<BatchPlaceItem, 'presetStopSurplusPrice' | 'presetStopLossPrice'>
  readonly isLong: boolean
  /** The order's price, or the latest one for a market order. */
  readonly reference: number
}

function readPresets(
  state: CoreState,
  symbol: SymbolState,
  { presets, isLong, reference }: PresetContext,
): Checked<Exits> {
  const takeProfit = readPreset(state, symbol, presets.presetStopSurplusPrice)
  if (!takeProfit.ok) return takeProfit
  const stopLoss = readPreset(state, symbol, presets.presetStopLossPrice)
  if (!stopLoss.ok) return stopLoss
  const exits = { takeProfit: takeProfit.value, stopLoss: stopLoss.value }
  const refusal = exitRefusal(symbol, { ...exits, isLong, reference })
  return refusal === undefined ? checked(exits) : refused(refusal)
}

/** A take-profit must stand on the winning side of the reference price, a stop-loss on the losing side. */
function exitRefusal(
  symbol: SymbolState,
  { takeProfit, stopLoss, isLong, reference }: Exits & Pick<PresetContext, 'isLong' | 'reference'>,
): Refusal | undefined {
  const gainTicks = (ticks: number) => (isLong ? ticks - reference : reference - ticks)
  if (takeProfit !== undefined && gainTicks(takeProfit.triggerTicks) <= 0) {
    return isLong ? refusals.longTakeProfit() : refusals.shortTakeProfit()
  }
  if (stopLoss !== undefined && gainTicks(stopLoss.triggerTicks) >= 0) {
    const mark = priceText(symbol.instrument, symbol.markTicks)
    return isLong ? refusals.longStopLoss(mark) : refusals.shortStopLoss(mark)
  }
  return undefined
}

/** Document: "presetStopSurplusPrice: empty means none"; `0` means none too. */
function readPreset(
  state: CoreState,
  symbol: SymbolState,
  text: string | undefined,
): Checked<PositionTrigger | undefined> {
  if (text === undefined || Number(text) === 0) return checked(undefined)
  const price = readPrice(symbol, text)
  if (!price.ok) return price
  const { presetTriggerType } = state.settings
  return checked({ triggerTicks: price.value, triggerType: presetTriggerType, executeTicks: undefined })
}

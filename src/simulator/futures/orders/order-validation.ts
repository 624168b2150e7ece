import { parseOnGrid } from '../../../lib/grid.ts'
import type { BatchPlaceItem } from '../../../protocol/futures/batch-place-order.ts'
import {
  accept,
  acceptAll,
  acceptUnless,
  type RefusedReply,
  type Reply,
} from '../../shared/reply.ts'
import type { ExchangeAccount, CoreState, SymbolState } from '../core-state.ts'
import { priceText } from '../instruments/instruments.ts'
import { refusals } from '../../shared/refusals.ts'
import {
  mayOpen,
  tradeDirection,
  type FuturesOrderTerms,
  type PositionExits,
  type PositionTrigger,
} from './order.ts'

export function readSize({ instrument }: SymbolState, text: string): Reply<number> {
  const { sizeGrid, lotsMin, limitLotsMax, lotFloat } = instrument
  const lots = parseOnGrid(sizeGrid, text)
  if ((lots ?? Number(text) / lotFloat) < lotsMin) return refusals.sizeBelowMinimum
  if (lots !== undefined) return accept(lots)
  if (Number(text) > limitLotsMax * lotFloat) return refusals.sizeAboveMaximum
  const decimals = text.split('.')[1]?.length ?? 0
  return decimals > sizeGrid.decimals
    ? refusals.scale('size', text, sizeGrid.decimals)
    : refusals.sizeStep(sizeGrid.step)
}

export function readPrice({ instrument }: SymbolState, text: string): Reply<number> {
  const ticks = parseOnGrid(instrument.priceGrid, text) ?? 0
  return ticks > 0 ? accept(ticks) : refusals.priceStep(instrument.priceGrid.step)
}

export function readOrderPrice(
  symbol: SymbolState,
  { orderType, price = '' }: Pick<BatchPlaceItem, 'orderType' | 'price'>,
): Reply<number> {
  return orderType === 'limit' ? readPrice(symbol, price) : accept(0)
}

/** Document: Errors, 4. reduceOnly has no meaning in hedge mode. */
export function readAction(
  { setup }: ExchangeAccount,
  { side, tradeSide, reduceOnly }: Pick<BatchPlaceItem, 'side' | 'tradeSide' | 'reduceOnly'>,
): Reply<Pick<FuturesOrderTerms, 'slot' | 'action' | 'direction' | 'reduceOnly'>> {
  if ((setup.positionMode === 'hedge_mode') !== (tradeSide !== undefined))
    return refusals.positionModeMismatch
  if (tradeSide === undefined)
    return accept({ slot: 'net', action: 'net', direction: side, reduceOnly: reduceOnly === 'YES' })
  const direction = tradeDirection(side, tradeSide)
  return accept({
    slot: side === 'buy' ? 'long' : 'short',
    action: tradeSide,
    direction,
    reduceOnly: false,
  })
}

export function readOrder(
  state: CoreState,
  account: ExchangeAccount,
  symbol: SymbolState,
  item: BatchPlaceItem & Pick<FuturesOrderTerms, 'marginMode'>,
): Reply<FuturesOrderTerms> {
  const action = readAction(account, item)
  if (!action.ok) return action
  const read = acceptAll({
    lots: readSize(symbol, item.size),
    priceTicks: readOrderPrice(symbol, item),
  })
  if (!read.ok) return read
  const exits = readPresets(state, symbol, { ...action.data, ...read.data, item })
  if (!exits.ok) return exits
  const { clientOid, marginMode, orderType, force = 'gtc', stpMode = 'none' } = item
  return accept({
    uid: account.setup.uid,
    symbol: symbol.instrument.symbol,
    clientOid,
    ...action.data,
    marginMode,
    orderType,
    force,
    stpMode,
    ...read.data,
    ...exits.data,
    triggerTicks: 0,
    source: 'API',
    systemTradeSide: undefined,
  })
}

type Presets = Pick<FuturesOrderTerms, 'direction' | 'action' | 'reduceOnly' | 'priceTicks'> & {
  readonly item: BatchPlaceItem
}

function readPresets(state: CoreState, symbol: SymbolState, order: Presets): Reply<PositionExits> {
  const { presetStopSurplusPrice, presetStopLossPrice } = mayOpen(order) ? order.item : {}
  const exits = acceptAll<PositionExits>({
    takeProfit: readPreset(state, symbol, presetStopSurplusPrice),
    stopLoss: readPreset(state, symbol, presetStopLossPrice),
  })
  return exits.ok ? acceptUnless(exitRefusal(symbol, order, exits.data), exits.data) : exits
}

function exitRefusal(
  { instrument, market, markTicks }: SymbolState,
  { direction, priceTicks }: Presets,
  { takeProfit, stopLoss }: PositionExits,
): RefusedReply | undefined {
  const isLong = direction === 'buy'
  const gainOf = ({ triggerTicks }: PositionTrigger) =>
    (triggerTicks - (priceTicks || market.lastTicks)) * (isLong ? 1 : -1)
  if (takeProfit !== undefined && gainOf(takeProfit) <= 0)
    return isLong ? refusals.longTakeProfit : refusals.shortTakeProfit
  if (stopLoss === undefined || gainOf(stopLoss) < 0) return undefined
  const mark = priceText(instrument, markTicks)
  return isLong ? refusals.longStopLoss(mark) : refusals.shortStopLoss(mark)
}

/** Document: "presetStopSurplusPrice: empty means none"; `0` also means none. */
function readPreset(
  { settings }: CoreState,
  symbol: SymbolState,
  text = '',
): Reply<PositionTrigger | undefined> {
  if (Number(text) === 0) return accept(undefined)
  return acceptAll<PositionTrigger>({
    triggerTicks: readPrice(symbol, text),
    triggerType: accept(settings.presetTriggerType),
    executeTicks: accept(undefined),
  })
}

import { symbolOf, type Account, type CoreState } from '../../futures/core-state.ts'
import { priceText, sizeText, type Instrument } from '../../futures/instruments/instruments.ts'
import { type PositionTrigger } from '../../futures/orders/order.ts'
import { type Position } from '../../futures/positions/position.ts'
import { POSITIONS } from '../../futures/stored-entities.ts'
import { isOfAsked } from './listed-symbols.ts'

/** A take-profit or stop-loss of a position, as the real exchange lists it among the trigger orders. */
export interface PositionExit {
  readonly planType: 'pos_profit' | 'pos_loss'
  readonly orderId: string
  readonly position: Position
  readonly trigger: PositionTrigger
}

/** The exits of open positions, take-profits before stop-losses, in the order the positions were opened. */
export function pendingExits(
  state: CoreState,
  account: Account,
  asked: { readonly productType: string; readonly symbol?: string | undefined },
): PositionExit[] {
  return [...account.positions.values()].filter(isOfAsked(state, asked)).flatMap(exitsOf)
}

/** `takeProfit`, `stopLoss` and their ids in a position's row: empty where there is none. */
export function exitFields(state: CoreState, position: Position) {
  const { instrument } = symbolOf(state, position.symbol)
  const exits = exitsOf(position)
  const profit = exits.find(({ planType }) => planType === 'pos_profit')
  const loss = exits.find(({ planType }) => planType === 'pos_loss')
  const priceOf = (exit: PositionExit | undefined) =>
    exit === undefined ? '' : priceText(instrument, exit.trigger.triggerTicks)
  return {
    takeProfit: priceOf(profit),
    stopLoss: priceOf(loss),
    takeProfitId: profit?.orderId ?? '',
    stopLossId: loss?.orderId ?? '',
  }
}

/** The position stays without it. */
export function removeExit(state: CoreState, { position, planType }: PositionExit): void {
  position[planType === 'pos_profit' ? 'takeProfit' : 'stopLoss'] = undefined
  position.updatedAt = state.clock.now
  state.rows.put(POSITIONS, position)
}

/** An exit in the list of trigger orders: it closes the whole position. */
export function toExitRow(state: CoreState, account: Account, exit: PositionExit) {
  const { position, trigger, planType, orderId } = exit
  const { instrument } = symbolOf(state, position.symbol)
  const execute = trigger.executeTicks === undefined ? '' : priceText(instrument, trigger.executeTicks)
  const isNet = position.slot === 'net'
  return {
    planType,
    symbol: position.symbol,
    size: sizeText(instrument, position.lots),
    orderId,
    clientOid: orderId,
    price: execute,
    executePrice: execute,
    callbackRatio: '',
    triggerPrice: priceText(instrument, trigger.triggerTicks),
    triggerType: trigger.triggerType,
    planStatus: 'live',
    // In one-way mode how it trades, in hedge mode the direction of the position.
    side: (position.holdSide === 'long') === isNet ? 'sell' : 'buy',
    posSide: position.slot,
    marginCoin: instrument.marginCoin,
    marginMode: position.marginMode,
    enterPointSource: 'API',
    tradeSide: isNet ? '' : 'close',
    posMode: account.setup.positionMode,
    orderType: execute === '' ? 'market' : 'limit',
    orderSource: planType,
    cTime: String(position.openedAt),
    uTime: String(position.updatedAt),
    ...exitPrices('stopSurplus', instrument, undefined),
    ...exitPrices('stopLoss', instrument, undefined),
  }
}

/** The fields `stopSurplus…` or `stopLoss…` of a trigger order: empty where it has none. */
export function exitPrices(
  name: 'stopSurplus' | 'stopLoss',
  instrument: Instrument,
  trigger: PositionTrigger | undefined,
) {
  const ticks = trigger?.executeTicks
  return {
    [`${name}ExecutePrice`]: ticks === undefined ? '' : priceText(instrument, ticks),
    [`${name}TriggerPrice`]: trigger === undefined ? '' : priceText(instrument, trigger.triggerTicks),
    [`${name}TriggerType`]: trigger?.triggerType ?? '',
  }
}

function exitsOf(position: Position): PositionExit[] {
  const { takeProfit, stopLoss, sequence } = position
  const profit = takeProfit && { planType: 'pos_profit' as const, trigger: takeProfit, prefix: '14' }
  const loss = stopLoss && { planType: 'pos_loss' as const, trigger: stopLoss, prefix: '15' }
  return [profit, loss].flatMap((exit) => {
    if (exit === undefined) return []
    const { prefix, planType, trigger } = exit
    return [{ planType, trigger, position, orderId: exitIdText(prefix, sequence) }]
  })
}

/** 18 digits, as all ids. A position has one exit of a kind: its own sequence names it, whatever its price. */
function exitIdText(prefix: string, sequence: number): string {
  return `${prefix}${String(sequence).padStart(16, '0')}`
}

import { type SymbolState } from '../core-state.ts'
import { checked, readPrice, refused, type Checked } from '../orders/order-validation.ts'
import { type PositionTrigger } from '../orders/order.ts'
import { type PlacePlanOrderRequest } from './place-plan-request.ts'
import { refusals } from '../refusals.ts'

/** One exit's part of a modification. Undefined and empty keep, `0` removes, anything else sets or adds. */
export interface ExitChange {
  readonly triggerPrice: string | undefined
  readonly executePrice: string | undefined
  readonly triggerType: 'fill_price' | 'mark_price' | '' | undefined
  /** The wire's names, for refusals. */
  readonly names: {
    readonly triggerPrice: string
    readonly executePrice: string
    readonly triggerType: string
  }
}

export interface PlanExits {
  readonly takeProfit: PositionTrigger | undefined
  readonly stopLoss: PositionTrigger | undefined
}

export function readExits(
  symbol: SymbolState,
  wire: PlacePlanOrderRequest,
  isTrailing: boolean,
): Checked<PlanExits> {
  const takeProfit = changeExit(symbol, undefined, {
    isTrailing,
    change: {
      triggerPrice: wire.stopSurplusTriggerPrice,
      executePrice: wire.stopSurplusExecutePrice,
      triggerType: wire.stopSurplusTriggerType || defaultType(wire.stopSurplusTriggerPrice, isTrailing),
      names: {
        triggerPrice: 'stopSurplusTriggerPrice',
        executePrice: 'stopSurplusExecutePrice',
        triggerType: 'stopSurplusTriggerType',
      },
    },
  })
  if (!takeProfit.ok) return takeProfit
  const stopLoss = changeExit(symbol, undefined, {
    isTrailing,
    change: {
      triggerPrice: wire.stopLossTriggerPrice,
      executePrice: wire.stopLossExecutePrice,
      triggerType: wire.stopLossTriggerType || defaultType(wire.stopLossTriggerPrice, isTrailing),
      names: {
        triggerPrice: 'stopLossTriggerPrice',
        executePrice: 'stopLossExecutePrice',
        triggerType: 'stopLossTriggerType',
      },
    },
  })
  return stopLoss.ok ? checked({ takeProfit: takeProfit.value, stopLoss: stopLoss.value }) : stopLoss
}

/**
 * The keep/set/add/remove matrix of one exit. Document, modify-plan-order:
 *
 *   trigger price   empty keeps, a price updates or adds, `0` removes the exit
 *   execute price   empty keeps, a price sets, `0` removes (the exit closes by market order); none for trailing
 *   trigger type    required when the trigger price is set on a trigger order; none for trailing (latest trade)
 */
export function changeExit(
  symbol: SymbolState,
  existing: PositionTrigger | undefined,
  { change, isTrailing }: { readonly change: ExitChange; readonly isTrailing: boolean },
): Checked<PositionTrigger | undefined> {
  const { triggerPrice = '', executePrice = '', triggerType = '', names } = change
  if (isTrailing && executePrice !== '') return refused(refusals.parameterPresent(names.executePrice))
  if (isTrailing && triggerType !== '') return refused(refusals.parameterPresent(names.triggerType))
  if (isZero(triggerPrice)) return checked(undefined)
  if (triggerPrice !== '' && triggerType === '' && !isTrailing)
    return refused(refusals.parameterEmpty(names.triggerType))
  if (triggerPrice === '' && existing === undefined) {
    return executePrice === '' && triggerType === ''
      ? checked(undefined)
      : refused(refusals.parameterEmpty(names.triggerPrice))
  }
  const trigger = triggerPrice === '' ? checked(existing?.triggerTicks ?? 0) : readPrice(symbol, triggerPrice)
  if (!trigger.ok) return trigger
  const execute = readExecute(symbol, executePrice, existing)
  if (!execute.ok) return execute
  return checked({
    triggerTicks: trigger.value,
    triggerType: triggerType === '' ? (existing?.triggerType ?? 'fill_price') : triggerType,
    executeTicks: execute.value,
  })
}

function readExecute(
  symbol: SymbolState,
  text: string,
  existing: PositionTrigger | undefined,
): Checked<number | undefined> {
  if (text === '') return checked(existing?.executeTicks)
  return isZero(text) ? checked(undefined) : readPrice(symbol, text)
}

/** Placing without a type watches the latest trade; a trailing order must not name one. */
function defaultType(triggerPrice: string | undefined, isTrailing: boolean): 'fill_price' | '' {
  return triggerPrice !== undefined && triggerPrice !== '' && !isTrailing ? 'fill_price' : ''
}

function isZero(text: string): boolean {
  return text !== '' && Number(text) === 0
}

import { EXIT_ENDPOINT, type AccountCall } from '../domain/account-call.ts'
import type { Instrument } from '../domain/instrument.ts'
import type {
  AccountCallIntent,
  CopySettingsIntent,
  ModifyTriggerIntent,
} from '../domain/intent.ts'
import type { ListedExit } from '../domain/position.ts'
import { formatOnGrid } from '../lib/grid.ts'
import { unreachable } from '../lib/unreachable.ts'
import { endpointNamed, type RequestOf } from '../protocol/endpoints.ts'
import { toWireRequest } from '../protocol/write-request.ts'

/** `problem` names the rule of the document that the call breaks. */
export type WrittenCall =
  | { readonly ok: true; readonly endpoint: AccountCall['endpoint']; readonly body: string }
  | { readonly ok: false; readonly problem: string }

/** Everything but the trigger price of an exit at the exchange stays. */
export function writeExitMove(
  { orderId, size = '', triggerType, executePrice }: ListedExit,
  ticks: number,
  instrument: Instrument,
): WrittenCall {
  const { marginCoin, productType, symbol, tick } = instrument
  return write(EXIT_ENDPOINT, {
    orderId,
    marginCoin,
    productType,
    symbol,
    triggerPrice: formatOnGrid(tick, ticks),
    triggerType: triggerType ?? 'fill_price',
    executePrice,
    size,
  })
}

export function writeAccountCall(intent: AccountCallIntent, instrument: Instrument): WrittenCall {
  switch (intent.kind) {
    case 'modifyTrigger':
      return write('modifyPlanOrder', buildModification(intent, instrument))
    case 'cancelMargin':
      return write('isolatedBatchCancelOrders', {
        symbol: intent.symbol,
        orderIdList: intent.orders,
      })
    case 'copySettings':
      return write('copyConfigSettingSymbols', { settingList: [buildSetting(intent, instrument)] })
    default:
      return unreachable(intent)
  }
}

function write<Name extends AccountCall['endpoint']>(
  endpoint: Name,
  request: RequestOf<Name>,
): WrittenCall {
  const row = endpointNamed(endpoint)
  const wire = toWireRequest(row, request)
  const checked = row.request.safeParse(wire)
  if (checked.success) return { ok: true, endpoint, body: JSON.stringify(wire) }
  return { ok: false, problem: checked.error.issues.map((issue) => issue.message).join('; ') }
}

/** The document: an omitted price stays, `0` removes it, and a price needs its trigger type. */
function buildModification(
  intent: ModifyTriggerIntent,
  instrument: Instrument,
): RequestOf<'modifyPlanOrder'> {
  const priceOf = (ticks: number | undefined) =>
    ticks === undefined ? undefined : formatOnGrid(instrument.tick, ticks)
  const exit = (ticks: number | null | undefined) => (ticks === null ? '0' : priceOf(ticks))
  const typeOf = (ticks: unknown) => (ticks === undefined ? undefined : ('fill_price' as const))
  const { orderId, triggerTicks, takeProfitTicks, stopLossTicks } = intent
  return {
    orderId,
    productType: instrument.productType,
    symbol: instrument.symbol,
    newTriggerPrice: priceOf(triggerTicks),
    newStopSurplusTriggerPrice: exit(takeProfitTicks),
    newStopSurplusTriggerType: typeOf(takeProfitTicks),
    newStopLossTriggerPrice: exit(stopLossTicks),
    newStopLossTriggerType: typeOf(stopLossTicks),
  }
}

type CopySetting = RequestOf<'copyConfigSettingSymbols'>['settingList'][number]

function buildSetting(
  intent: CopySettingsIntent,
  { symbol, productType }: Instrument,
): CopySetting {
  const ratio = (value: number | null | undefined) =>
    value === undefined ? undefined : String(value ?? 0)
  const { change, takeProfitRatio, stopLossRatio } = intent
  return {
    symbol,
    // The schema of the row says which product types have settings.
    productType: productType as CopySetting['productType'],
    settingType: change,
    stopSurplusRatio: ratio(takeProfitRatio),
    stopLossRatio: ratio(stopLossRatio),
  }
}

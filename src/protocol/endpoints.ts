import type { z } from 'zod'
import { beyondEndpoints, type BeyondName, beyondNames } from './beyond/beyond-endpoints.ts'
import { convertRecords } from './convert/convert-records.ts'
import { copyConfigSettingSymbols } from './copy/copy-config-setting-symbols.ts'
import { copyOrderTotalDetail } from './copy/copy-order-total-detail.ts'
import type { Endpoint } from './endpoint.ts'
import { batchPlaceOrder } from './futures/batch-place-order.ts'
import { cancelAllOrders } from './futures/cancel-all-orders.ts'
import { longShortRatio } from './futures/long-short-ratio.ts'
import { modifyPlanOrder } from './futures/modify-plan-order.ts'
import { orderFills } from './futures/order-fills.ts'
import { singlePosition } from './futures/single-position.ts'
import { tickers } from './futures/tickers.ts'
import { gatewayTest } from './gateway/gateway-test.ts'
import { isolatedBatchCancelOrders } from './margin/isolated-batch-cancel-orders.ts'
import { crossedLiquidationOrders, isolatedLiquidationOrders } from './margin/liquidation-orders.ts'
import { crossedOpenOrders, isolatedOpenOrders } from './margin/open-orders.ts'
import { spotHistoryOrders } from './spot/spot-history-orders.ts'
import { spotOrderInfo } from './spot/spot-order-info.ts'
import { spotSymbols } from './spot/spot-symbols.ts'
import { spotWithdrawal } from './spot/spot-withdrawal.ts'
import { createVirtualSubaccounts } from './user/create-virtual-subaccounts.ts'

/** They stand in the document's order. */
export const endpoints = {
  batchPlaceOrder,
  cancelAllOrders,
  modifyPlanOrder,
  orderFills,
  singlePosition,
  tickers,
  longShortRatio,
  spotHistoryOrders,
  spotOrderInfo,
  spotSymbols,
  spotWithdrawal,
  isolatedOpenOrders,
  crossedOpenOrders,
  isolatedLiquidationOrders,
  crossedLiquidationOrders,
  isolatedBatchCancelOrders,
  copyOrderTotalDetail,
  copyConfigSettingSymbols,
  convertRecords,
  createVirtualSubaccounts,
  gatewayTest,
} as const

export type EndpointName = keyof typeof endpoints

const callableEndpoints = { ...endpoints, ...beyondEndpoints } as const

export type CallableName = EndpointName | BeyondName
type EndpointRow<Name extends CallableName> = (typeof callableEndpoints)[Name]

export type RequestOf<Name extends CallableName> =
  EndpointRow<Name> extends Endpoint<string, z.ZodType, z.ZodType, infer Clean> ? Clean : never
export type ResponseOf<Name extends CallableName> = z.output<EndpointRow<Name>['response']>
export type WireRequestOf<Name extends EndpointName> = z.input<EndpointRow<Name>['request']>
export type WireResponseOf<Name extends EndpointName> = z.input<EndpointRow<Name>['response']>

export function endpointNamed(name: CallableName): Endpoint {
  return callableEndpoints[name]
}

export const endpointNames = Object.keys(endpoints) as readonly EndpointName[]

export const callableNames: readonly CallableName[] = [...endpointNames, ...beyondNames]

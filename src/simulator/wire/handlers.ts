import {
  type EndpointName,
  endpointNames,
  type WireRequestOf,
  type WireResponseOf,
} from '../../protocol/endpoints.ts'
import { type AccountRef } from '../core/account.ts'
import { type ExchangeCore } from '../core/exchange-core.ts'
import { type Reply } from '../core/reply.ts'

/** Who asks, and when. */
export interface Caller {
  /** {@link NOBODY} for public endpoints. */
  readonly account: AccountRef
  /** Unix ms of the exchange's clock. */
  readonly now: number
}

/** Rows that this exchange does not serve yet. A row that is neither here nor among the handlers does not compile. */
type NotServed =
  | 'spotHistoryOrders'
  | 'spotOrderInfo'
  | 'spotSymbols'
  | 'spotWithdrawal'
  | 'isolatedOpenOrders'
  | 'crossedOpenOrders'
  | 'isolatedLiquidationOrders'
  | 'crossedLiquidationOrders'
  | 'isolatedBatchCancelOrders'
  | 'copyOrderTotalDetail'
  | 'copyConfigSettingSymbols'
  | 'convertRecords'
  | 'createVirtualSubaccounts'
  | 'gatewayTest'

export type ServedName = Exclude<EndpointName, NotServed>

/** What the wire asks of the core: a method an endpoint, under its name, and whose key is whose. */
export type ServedCore = Pick<ExchangeCore, ServedName | 'accountByKey'>

export type Handler<Name extends ServedName> = (
  core: ServedCore,
  request: WireRequestOf<Name>,
  caller: Caller,
) => Reply<WireResponseOf<Name>>

/** The caller of a public endpoint: no account has an empty UID. */
export const NOBODY: AccountRef = { uid: '' }

/** What answers each row of the table. A row without a handler does not compile. */
export const handlers: { readonly [Name in ServedName]: Handler<Name> } = {
  batchPlaceOrder: (core, request, { account, now }) => core.batchPlaceOrder(account, request, now),
  cancelAllOrders: (core, request, { account, now }) => core.cancelAllOrders(account, request, now),
  modifyPlanOrder: (core, request, { account, now }) => core.modifyPlanOrder(account, request, now),
  orderFills: (core, request, { account, now }) => core.orderFills(account, request, now),
  singlePosition: (core, request, { account, now }) => core.singlePosition(account, request, now),
  tickers: (core, request, { now }) => core.tickers(request, now),
  longShortRatio: (core, request, { now }) => core.longShortRatio(request, now),
}

/** The rows that have a handler, in the document's order. */
export const servedNames: readonly ServedName[] = endpointNames.filter(
  (name): name is ServedName => name in handlers,
)

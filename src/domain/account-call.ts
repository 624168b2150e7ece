import type { AccountCallIntent, Intent } from './intent.ts'

/** The endpoints that a strategy's account calls go to. Doing one of them twice does no harm. */
const ENDPOINTS = {
  modifyTrigger: 'modifyPlanOrder',
  cancelMargin: 'isolatedBatchCancelOrders',
  copySettings: 'copyConfigSettingSymbols',
} as const satisfies Record<AccountCallIntent['kind'], string>

export type AccountCallEndpoint = (typeof ENDPOINTS)[AccountCallIntent['kind']]

export function isAccountCall(intent: Intent): intent is AccountCallIntent {
  return Object.hasOwn(ENDPOINTS, intent.kind)
}

/** Whether a call only takes orders away: nothing holds it back, and it does not wait behind others. */
export function takesAway(endpoint: AccountCallEndpoint): boolean {
  return endpoint === ENDPOINTS.cancelMargin
}

/** A call on the account that places no order. */
export interface AccountCall {
  readonly strategyId: string
  /** Names it within the strategy: the same key is the same call for ever. */
  readonly key: string
  readonly symbol: string
  readonly endpoint: AccountCallEndpoint
  /** The exact bytes. */
  readonly body: string
  /** Unix ms, our clock: not begun, and not repeated, later than this. */
  readonly deadlineAt: number
}

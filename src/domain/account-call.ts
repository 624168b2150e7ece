import type { AccountCallIntent, Intent } from './intent.ts'

/**
 * The endpoints that a strategy's account calls go to. Repeating one of these calls does no harm.
 */
const ENDPOINTS = {
  modifyTrigger: 'modifyPlanOrder',
  cancelMargin: 'isolatedBatchCancelOrders',
  copySettings: 'copyConfigSettingSymbols',
} as const satisfies Record<AccountCallIntent['kind'], string>

export type AccountCallEndpoint = (typeof ENDPOINTS)[AccountCallIntent['kind']]

export function isAccountCall(intent: Intent): intent is AccountCallIntent {
  return Object.hasOwn(ENDPOINTS, intent.kind)
}

/**
 * Whether a call only removes orders. Such a call is never held back and does not wait behind
 * others.
 */
export function takesAway(endpoint: AccountCallEndpoint): boolean {
  return endpoint === ENDPOINTS.cancelMargin
}

/** A call on the account that places no order. */
export interface AccountCall {
  readonly strategyId: string
  /** Names the call within the strategy: the same key always means the same call. */
  readonly key: string
  readonly symbol: string
  readonly endpoint: AccountCallEndpoint
  /** The request body, byte for byte. */
  readonly body: string
  /** Unix ms, our clock: the call is not begun or repeated after this. */
  readonly deadlineAt: number
}

import type { AccountCallIntent, Intent } from './intent.ts'

/** Repeating one of these calls does no harm. */
const ENDPOINTS = {
  modifyTrigger: 'modifyPlanOrder',
  cancelMargin: 'isolatedBatchCancelOrders',
  copySettings: 'copyConfigSettingSymbols',
} as const satisfies Record<AccountCallIntent['kind'], string>

/** The exits of a position have an endpoint of their own, beyond the document. */
export const EXIT_ENDPOINT = 'modifyTpslOrder'

export type AccountCallEndpoint =
  | (typeof ENDPOINTS)[AccountCallIntent['kind']]
  | typeof EXIT_ENDPOINT

export function isAccountCall(intent: Intent): intent is AccountCallIntent {
  return Object.hasOwn(ENDPOINTS, intent.kind)
}

/** It waits behind no other call. */
export function takesAway(endpoint: AccountCallEndpoint): boolean {
  return endpoint === ENDPOINTS.cancelMargin
}

export interface AccountCall {
  readonly strategyId: string
  /** A key always means the same call. */
  readonly key: string
  readonly symbol: string
  readonly endpoint: AccountCallEndpoint
  readonly body: string
  readonly deadlineAt: number
}

import type { AccountCallIntent, Intent } from './intent.ts'

/** Repeating one of these calls does no harm. */
const ENDPOINTS = {
  modifyTrigger: 'modifyPlanOrder',
  cancelMargin: 'isolatedBatchCancelOrders',
  copySettings: 'copyConfigSettingSymbols',
} as const satisfies Record<AccountCallIntent['kind'], string>

/** Exits of a position have an endpoint of their own, which the document leaves out. */
export const EXIT_ENDPOINT = 'modifyTpslOrder'

export type AccountCallEndpoint =
  | (typeof ENDPOINTS)[AccountCallIntent['kind']]
  | typeof EXIT_ENDPOINT

export function isAccountCall(intent: Intent): intent is AccountCallIntent {
  return Object.hasOwn(ENDPOINTS, intent.kind)
}

/** A call that takes orders away waits behind no other. */
export function takesAway(endpoint: AccountCallEndpoint): boolean {
  return endpoint === ENDPOINTS.cancelMargin
}

export interface AccountCall {
  readonly strategyId: string
  /** Means the same call for ever. */
  readonly key: string
  readonly symbol: string
  readonly endpoint: AccountCallEndpoint
  readonly body: string
  readonly deadlineAt: number
}

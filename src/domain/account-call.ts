import type { AccountCallIntent, Intent } from './intent.ts'

const ENDPOINTS = {
  modifyTrigger: 'modifyPlanOrder',
  cancelMargin: 'isolatedBatchCancelOrders',
  copySettings: 'copyConfigSettingSymbols',
} as const satisfies Record<AccountCallIntent['kind'], string>

export type AccountCallEndpoint = (typeof ENDPOINTS)[AccountCallIntent['kind']]

export function isAccountCall(intent: Intent): intent is AccountCallIntent {
  return Object.hasOwn(ENDPOINTS, intent.kind)
}

/** Never held back, and waits behind no other call. */
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

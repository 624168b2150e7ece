/** The endpoints that a strategy's account calls go to. Doing one of them twice does no harm. */
export type AccountCallEndpoint = 'modifyPlanOrder' | 'isolatedBatchCancelOrders' | 'copyConfigSettingSymbols'

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

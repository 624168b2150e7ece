import { oneOf } from '../shared/one-of.ts'

/**
 * Settings of the margin service where the document is silent. Ratios and rates are decimals: 0.05
 * is 5 %.
 *
 * Risk ratio = maintenance / equity, where maintenance = debts x maintenance rate, equity = assets
 * - debts, assets at the bid and debts at the ask. At `liquidationRatio` the platform liquidates.
 */
export type MarginSettings = Readonly<typeof defaultMarginSettings>

export const defaultMarginSettings = {
  /** The vendor's listing: `liquidationRiskRatio` 1. */
  liquidationRatio: '1',
  /** Share of the debts' value. */
  isolatedMaintenanceRate: '0.05',
  crossedMaintenanceRate: '0.1',
  /**
   * Share of the value traded by forced orders. It is paid from the rest after the debts, into the
   * insurance fund.
   */
  liquidationFeeRate: '0.01',
  /** A crossed loan older than this is repaid by the system at the next full hour. */
  loanTermMs: 90 * 86_400_000,
  /**
   * Spelling of the side in liquidation records: the document's table has `liquidation_sell`, its
   * sample `liquidation-sell`.
   */
  liquidationSide: oneOf('hyphen', 'underscore'),
  /** Maximum open orders of an account in each mode. */
  openOrdersMax: 200,
  /** Items of a batch cancel. The document states no maximum; error 40912 mentions 50. */
  cancelItemsMax: 50,
  /**
   * Orders kept for each account, also for their clientOid and for late cancels: the oldest ended
   * ones are dropped.
   */
  ordersMax: 1500,
  /** Liquidation records kept for each account and mode; the oldest are dropped. */
  recordsMax: 2000,
}

import { oneOf } from '../shared/one-of.ts'

/**
 * The settings of the margin service: what the document leaves open. Ratios and rates are decimals: 0.05 is 5 %.
 *
 * Risk ratio = maintenance / equity, where maintenance = debts x maintenance rate, equity = assets - debts,
 * assets counted at the bid and debts at the ask. At `liquidationRatio` the platform takes over.
 */
export type MarginSettings = Readonly<typeof defaultMarginSettings>

export const defaultMarginSettings = {
  /** The vendor's listing: `liquidationRiskRatio` 1. */
  liquidationRatio: '1',
  /** Of the debts' value. */
  isolatedMaintenanceRate: '0.05',
  crossedMaintenanceRate: '0.1',
  /** Of what forced orders traded, out of what is left when the debts are paid; it goes to the insurance fund. */
  liquidationFeeRate: '0.01',
  /** A crossed loan older than this is repaid by the system, at the next full hour. */
  loanTermMs: 90 * 86_400_000,
  /** How a liquidation record writes its side: the document's table has `liquidation_sell`, its sample `liquidation-sell`. */
  liquidationSide: oneOf('hyphen', 'underscore'),
  /** Open orders an account may have in each mode. */
  openOrdersMax: 200,
  /** Items of a batch cancel. The document states none; error 40912 knows 50. */
  cancelItemsMax: 50,
  /** Orders kept an account, also for their clientOid and for cancelling late: the oldest that are done go first. */
  ordersMax: 1500,
  /** Liquidation records kept an account and mode; the oldest go first. */
  recordsMax: 2000,
}

import { oneOf } from '../shared/one-of.ts'

/**
 * Settings where the document is silent; 0.05 is 5 %. Risk ratio = maintenance / equity;
 * maintenance = debts x rate; equity = assets (at the bid) - debts (at the ask).
 */
export type MarginSettings = Readonly<typeof defaultMarginSettings>

export const defaultMarginSettings = {
  /** The vendor's listing: `liquidationRiskRatio` 1. */
  liquidationRatio: '1',
  isolatedMaintenanceRate: '0.05',
  crossedMaintenanceRate: '0.1',
  /** Share of the value of forced orders that the insurance fund gets after the debts. */
  liquidationFeeRate: '0.01',
  loanTermMs: 90 * 86_400_000,
  /** The document's table has `liquidation_sell`, its sample `liquidation-sell`. */
  liquidationSide: oneOf('hyphen', 'underscore'),
  openOrdersMax: 200,
  /** The document states no maximum; error 40912 mentions 50. */
  cancelItemsMax: 50,
  ordersMax: 1500,
  recordsMax: 2000,
}

/**
 * The settings of the margin service: what the document leaves open. Ratios and rates are decimals: 0.05 is 5 %.
 *
 * Risk ratio = maintenance / equity, where maintenance = debts x maintenance rate, equity = assets - debts,
 * assets counted at the bid and debts at the ask. At `liquidationRatio` the platform takes over.
 */
export interface MarginSettings {
  /** The vendor's listing: `liquidationRiskRatio` 1. */
  readonly liquidationRatio: string
  /** Of the debts' value. */
  readonly isolatedMaintenanceRate: string
  readonly crossedMaintenanceRate: string
  /** Of what forced orders traded, out of what is left when the debts are paid; it goes to the insurance fund. */
  readonly liquidationFeeRate: string
  /** A crossed loan older than this is repaid by the system, at the next full hour. */
  readonly loanTermMs: number
  /** How a liquidation record writes its side: the document's table has `liquidation_sell`, its sample `liquidation-sell`. */
  readonly liquidationSide: 'hyphen' | 'underscore'
  /** Open orders an account may have in each mode. */
  readonly openOrdersMax: number
  /** Items of a batch cancel. The document states none; error 40912 knows 50. */
  readonly cancelItemsMax: number
  /** Orders kept an account, also for their clientOid and for cancelling late: the oldest that are done go first. */
  readonly ordersMax: number
  /** Liquidation records kept an account and mode; the oldest go first. */
  readonly recordsMax: number
}

export const defaultMarginSettings: MarginSettings = {
  liquidationRatio: '1',
  isolatedMaintenanceRate: '0.05',
  crossedMaintenanceRate: '0.1',
  liquidationFeeRate: '0.01',
  loanTermMs: 90 * 86_400_000,
  liquidationSide: 'hyphen',
  openOrdersMax: 200,
  cancelItemsMax: 50,
  ordersMax: 1500,
  recordsMax: 2000,
}

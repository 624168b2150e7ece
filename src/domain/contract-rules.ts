/** As its exchange states them: decimals are text, sizes in base coin. */
export interface ContractRules {
  readonly tickSize: string
  readonly lotSize: string
  readonly minSize: string
  /** Order value, quote coin. */
  readonly minNotional: string
  /** Between two payments. */
  readonly fundingHours?: number
  readonly leverageMax?: number
  /** The exchange's word; absent: not said. */
  readonly status?: string
  /** Its listing. */
  readonly launchedAt?: number
  /** Its removal. */
  readonly offAt?: number
}

/** It can be traded without restriction. */
export const TRADABLE_STATUS = 'normal'

/** All contracts of a product type. */
export interface ContractsReading {
  /** Unix ms. */
  readonly readAt: number
  /** The exchange's address. */
  readonly source: string
  readonly productType: string
  readonly contracts: ReadonlyMap<string, ContractRules>
}

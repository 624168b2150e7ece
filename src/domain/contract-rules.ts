/** The rules of a contract as its exchange states them: decimals are text, sizes in base coin. */
export interface ContractRules {
  readonly tickSize: string
  readonly lotSize: string
  readonly minSize: string
  /** Smallest order value, in quote coin. */
  readonly minNotional: string
  /** Absent: not said; the symbol ends with it. */
  readonly quoteCoin?: string
  /** Hours between two payments of funding. */
  readonly fundingHours?: number
  readonly leverageMax?: number
  /** Word of the exchange; absent: not said. */
  readonly status?: string
  /** Unix ms, of the listing. */
  readonly launchedAt?: number
  /** Unix ms, when it is to be removed. */
  readonly offAt?: number
}

/** The status of a contract that can be traded without restriction. */
export const TRADABLE_STATUS = 'normal'

/** One answer about all contracts of a product type. */
export interface ContractsReading {
  /** Unix ms. */
  readonly readAt: number
  /** Address of the exchange. */
  readonly source: string
  readonly productType: string
  readonly contracts: ReadonlyMap<string, ContractRules>
}

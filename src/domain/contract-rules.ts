/** Decimals are text, sizes in base coin. */
export interface ContractRules {
  readonly tickSize: string
  readonly lotSize: string
  readonly minSize: string
  /** Order value, quote coin. */
  readonly minNotional: string
  /** Absent: not said; the symbol ends with it. */
  readonly quoteCoin?: string
  /** Hours between two payments of funding. */
  readonly fundingHours?: number
  readonly leverageMax?: number
  /** The exchange's word; absent: not said. */
  readonly status?: string
  /** Its listing. */
  readonly launchedAt?: number
  /** Its removal. */
  readonly offAt?: number
}

export const TRADABLE_STATUS = 'normal'

export interface ContractsReading {
  /** Unix ms. */
  readonly readAt: number
  readonly source: string
  readonly productType: string
  readonly contracts: ReadonlyMap<string, ContractRules>
}

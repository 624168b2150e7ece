/** Decimals are text, sizes in base coin. */
export interface ContractRules {
  readonly tickSize: string
  readonly lotSize: string
  readonly minSize: string
  /** Order value, quote coin. */
  readonly minNotional: string
  /** Absent: the symbol ends with it. */
  readonly quoteCoin?: string
  readonly fundingHours?: number
  readonly leverageMax?: number
  readonly status?: string
  readonly launchedAt?: number
  readonly offAt?: number
}

export const TRADABLE_STATUS = 'normal'

export interface ContractsReading {
  readonly readAt: number
  readonly source: string
  readonly productType: string
  readonly contracts: ReadonlyMap<string, ContractRules>
}

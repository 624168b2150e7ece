import { candles, historyCandles } from './candles.ts'
import { contracts } from './contracts.ts'
import { currentFundRate, historyFundRate } from './funding-rates.ts'

/**
 * The second table: public endpoints that are not in the document. Nothing needs them. A daemon
 * calls them only if `exchange.beyondDocument` allows it, behind everything that trades; a failure
 * is said once.
 */
export const beyondEndpoints = {
  contracts,
  candles,
  historyCandles,
  historyFundRate,
  currentFundRate,
} as const

export type BeyondName = keyof typeof beyondEndpoints

export const beyondNames = Object.keys(beyondEndpoints) as readonly BeyondName[]

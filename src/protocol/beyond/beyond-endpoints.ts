import { candles, historyCandles } from './candles.ts'
import { contracts } from './contracts.ts'
import { currentFundRate, historyFundRate } from './funding-rates.ts'
import { modifyTpslOrder } from './modify-tpsl-order.ts'
import { ordersPlanPending } from './plan-orders-pending.ts'

/**
 * The second table: endpoints that are not in the document. Nothing needs them. A daemon calls the
 * public ones only if `exchange.beyondDocument` allows it, behind everything that trades, and the
 * signed ones only with `exchange.beyondDocumentPrivate`; a failure is said once.
 */
export const beyondEndpoints = {
  contracts,
  candles,
  historyCandles,
  historyFundRate,
  currentFundRate,
  ordersPlanPending,
  modifyTpslOrder,
} as const

export type BeyondName = keyof typeof beyondEndpoints

export const beyondNames = Object.keys(beyondEndpoints) as readonly BeyondName[]

export function isPublicBeyond(name: BeyondName): boolean {
  return beyondEndpoints[name].auth === 'public'
}

import { candles, historyCandles } from './candles.ts'
import { contracts } from './contracts.ts'
import { currentFundRate, historyFundRate } from './funding-rates.ts'
import { modifyTpslOrder } from './modify-tpsl-order.ts'
import { ordersPlanPending } from './plan-orders-pending.ts'

/**
 * Nothing needs these. Public ones need `exchange.beyondDocument`, signed ones
 * `exchange.beyondDocumentPrivate`. Calls have background priority; a failure is logged once.
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

import type { SymbolState } from '../core-state.ts'

/** Document, deliveryStatus: "10 minutes before delivery, opening positions prohibited". */
const BEFORE_DELIVERY_MS = 10 * 60_000

/**
 * not listed -> config (listed, not open) -> normal -> before -> period -> settled (contract
 * removed)
 */
export const DELIVERY_STAGES = [
  'delivery_config_period',
  'delivery_normal',
  'delivery_before',
  'delivery_period',
] as const

export type DeliveryStatus = (typeof DELIVERY_STAGES)[number]

type Contract = Pick<SymbolState, 'instrument' | 'opensAt'>

export function deliveryStatus(
  { instrument: { delivery }, opensAt }: Contract,
  now: number,
): DeliveryStatus {
  if (delivery === undefined) return 'delivery_normal'
  if (now < opensAt) return 'delivery_config_period'
  if (now < delivery.deliveryAt - BEFORE_DELIVERY_MS) return 'delivery_normal'
  return now < delivery.deliveryAt ? 'delivery_before' : 'delivery_period'
}

export function isOpeningProhibited(contract: Contract, now: number): boolean {
  return (
    contract.instrument.delivery !== undefined &&
    deliveryStatus(contract, now) === 'delivery_before'
  )
}

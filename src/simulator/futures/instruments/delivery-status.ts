import type { Instrument } from './instruments.ts'

/** Document, deliveryStatus: "delivery_before: 10 minutes before delivery, opening positions prohibited". */
const BEFORE_DELIVERY_MS = 10 * 60_000

/**
 * delivery_config_period (listed, not open) -> delivery_normal -> delivery_before (10 minutes)
 * -> delivery_period (`deliverySettlementMs`) -> settled: positions closed, the contract removed.
 */
export const DELIVERY_STAGES = [
  'delivery_config_period',
  'delivery_normal',
  'delivery_before',
  'delivery_period',
] as const

export type DeliveryStatus = (typeof DELIVERY_STAGES)[number]

export function deliveryStatus(instrument: Instrument, now: number): DeliveryStatus {
  const { delivery } = instrument
  if (delivery === undefined) return 'delivery_normal'
  if (now < delivery.listedAt) return 'delivery_config_period'
  if (now < delivery.deliveryAt - BEFORE_DELIVERY_MS) return 'delivery_normal'
  return now < delivery.deliveryAt ? 'delivery_before' : 'delivery_period'
}

/** Document: "10 minutes before delivery, opening positions prohibited". */
export function isOpeningProhibited(instrument: Instrument, now: number): boolean {
  return instrument.delivery !== undefined && deliveryStatus(instrument, now) === 'delivery_before'
}

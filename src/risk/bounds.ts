/**
 * Beyond these numbers arithmetic is not exact, and no request can be written; so they are denied
 * where an intent enters the core, and by the first risk check.
 */
import type { Objection } from '../domain/denial.ts'
import { type Instrument, lotsMax, ticksMax } from '../domain/instrument.ts'
import type { Intent } from '../domain/intent.ts'
import { unreachable } from '../lib/unreachable.ts'

/** Longer than any decision is useful, and within the time for which a key is remembered. */
const TTL_MS_MAX = 7 * 86_400_000

export function objectToNumbers(instrument: Instrument, intent: Intent): Objection | undefined {
  switch (intent.kind) {
    case 'place':
      return (
        objectToSize(instrument, intent.lots) ??
        objectToPrices(instrument, [intent.ticks, intent.takeProfitTicks, intent.stopLossTicks]) ??
        objectToDuration(intent.ttlMs)
      )
    case 'quote':
      for (const { ticks, lots } of intent.levels) {
        const objection = objectToSize(instrument, lots) ?? objectToPrices(instrument, [ticks])
        if (objection) return objection
      }
      return undefined
    case 'target':
      return intent.lots === 0 ? undefined : objectToSize(instrument, Math.abs(intent.lots))
    case 'modifyTrigger':
      return objectToPrices(instrument, [
        intent.triggerTicks,
        intent.takeProfitTicks,
        intent.stopLossTicks,
      ])
    case 'copySettings':
    case 'cancelMargin':
    case 'cancelAll':
      return undefined
    default:
      return unreachable(intent)
  }
}

export function objectToSize(instrument: Instrument, lots: number): Objection | undefined {
  const max = lotsMax(instrument)
  if (isCount(lots, max)) return undefined
  return { code: 'SIZE_PRECISION', detail: `${lots} lots, at most ${max}` }
}

/** @param prices in ticks; absent or removed ones are not checked */
export function objectToPrices(
  instrument: Instrument,
  prices: readonly (number | null | undefined)[],
): Objection | undefined {
  const max = ticksMax(instrument)
  for (const ticks of prices) {
    if (ticks === undefined || ticks === null || isCount(ticks, max)) continue
    return { code: 'PRICE_PRECISION', detail: `${ticks} ticks, at most ${max}` }
  }
  return undefined
}

function objectToDuration(ttlMs: number | undefined): Objection | undefined {
  if (ttlMs === undefined || (Number.isSafeInteger(ttlMs) && ttlMs >= 0 && ttlMs <= TTL_MS_MAX))
    return undefined
  return { code: 'INTENT_MALFORMED', detail: `ttlMs: ${ttlMs}, at most ${TTL_MS_MAX}` }
}

function isCount(value: number, max: number): boolean {
  return Number.isSafeInteger(value) && value > 0 && value <= max
}

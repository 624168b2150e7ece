/** Further digits are noise of float sums. */
export const DIGITS = 10

/** A replacer for JSON.stringify; NaN and infinity become null. */
export function roundNumbers(_key: string, value: unknown): unknown {
  if (typeof value !== 'number' || Number.isInteger(value)) return value
  return Number.isFinite(value) ? Number(value.toPrecision(DIGITS)) : null
}

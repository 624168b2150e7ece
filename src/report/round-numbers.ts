/** Digits beyond these are noise of the summing. */
export const DIGITS = 10

/** For JSON.stringify: numbers with so many digits, and null for what is none. */
export function roundNumbers(_key: string, value: unknown): unknown {
  if (typeof value !== 'number' || Number.isInteger(value)) return value
  return Number.isFinite(value) ? Number(value.toPrecision(DIGITS)) : null
}

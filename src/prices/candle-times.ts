import { Failure } from '../lib/failure.ts'
import { nameInterval } from './times.ts'

const [SECOND_MS, DAY_MS] = [1000, 86_400_000]
/** Months differ in length. */
export const MONTH_MS_MIN = 28 * DAY_MS
/** Fewer steps of another length are gaps. */
export const STEPS_OF_OTHER = 20

/** @throws Failure RECORDING_INTERVAL_CHANGES */
export function assertOneInterval(
  at: Float64Array,
  intervalMs: number,
  whereOf: (row: number) => string,
): void {
  if (intervalMs >= MONTH_MS_MIN) return
  let [length, count] = [0, 0]
  for (let row = 1; row < at.length; row++) {
    const step = (at[row] as number) - (at[row - 1] as number)
    count = step === length ? count + 1 : 1
    length = step
    if (length === intervalMs || count < STEPS_OF_OTHER) continue
    throw new Failure({
      code: 'RECORDING_INTERVAL_CHANGES',
      sentence: 'the interval of the candles changes in the middle',
      facts: {
        where: whereOf(row - count),
        found: `${count} steps of ${nameInterval(length)} or more, among candles of ${nameInterval(intervalMs)}`,
      },
      hint: 'cut the file where it changes, and import the parts by themselves',
    })
  }
}

/** @returns 1 or 1000 if most times are so many ms before the end of a candle; else 0 */
export function shortOfClose(at: Float64Array, intervalMs: number): number {
  const gridMs = Math.min(intervalMs, DAY_MS)
  const shortMs = [1, SECOND_MS].filter((ms) => ms < gridMs)
  const isMost = (ms: number) =>
    at.filter((time) => (time + ms) % gridMs === 0).length > at.length / 2
  return shortMs.find(isMost) ?? 0
}

/** Times as files write them: Unix seconds, milliseconds, microseconds or nanoseconds, or a date. */
import { Failure } from '../../lib/failure.ts'

/** From so many on: each unit from 1973 to 5138, and none of them is another's. */
const UNITS = [
  { least: 1e8, perMs: 0.001 },
  { least: 1e11, perMs: 1 },
  { least: 1e14, perMs: 1000 },
  { least: 1e17, perMs: 1_000_000 },
] as const

/** Turns times in place into whole Unix ms, each by its magnitude. @throws Failure RECORDING_TIME_UNIT */
export function toUnixMs(times: Float64Array, whereOf: (row: number) => string): void {
  for (let row = 0; row < times.length; row++) {
    const time = times[row] as number
    const unit = UNITS.findLast(({ least }) => time >= least)
    if (unit === undefined || time >= 1e20) {
      throw new Failure({
        code: 'RECORDING_TIME_UNIT',
        sentence: 'the time is not a Unix time',
        facts: { where: whereOf(row), found: String(time) },
        hint: 'seconds, milliseconds, microseconds and dates are read: check the order of the columns',
      })
    }
    // Seconds with a fraction: 1585180700.0647 times 1000 is a little below 1585180700064.7.
    times[row] = unit.perMs < 1 ? Math.floor(Math.round(time * 1e6) / 1000) : Math.floor(time / unit.perMs)
  }
}

const DATE =
  /^(\d{4})[-./](\d\d)[-./](\d\d)(?:[ T](\d\d:\d\d)(:\d\d(?:\.\d{1,9})?)?)? ?(?:Z|UTC|([+-]\d\d):?(\d\d))?$/

/** Unix ms of a date such as `2025-06-02 13:00:00+00:00` or `2025.06.02 13:00`, in UTC where it names no zone. */
export function parseDate(text: string): number | undefined {
  const match = DATE.exec(text)
  if (!match) return undefined
  const [, year, month, day, time = '00:00', seconds = ':00', zoneHours, zoneMinutes] = match
  const zone = zoneHours === undefined ? 'Z' : `${zoneHours}:${zoneMinutes}`
  const at = Date.parse(`${year}-${month}-${day}T${time}${seconds}${zone}`)
  return Number.isNaN(at) ? undefined : at
}

const SPANS_MS = { w: 604_800_000, d: 86_400_000, h: 3_600_000, m: 60_000, s: 1000, ms: 1 } as const

/** `1m`, `4h`, `1d`: the interval of candles as exchanges name it. */
export function nameInterval(intervalMs: number): string {
  const [unit = 'ms', ms = 1] = Object.entries(SPANS_MS).find(([, span]) => intervalMs % span === 0) ?? []
  return `${intervalMs / ms}${unit}`
}

/** The interval that a file's name says, ms. */
export function intervalInName(name: string): number | undefined {
  const [, count, unit] = /[-_](\d{1,3})([smhdw])(?![a-z0-9])/.exec(name) ?? []
  return unit === undefined ? undefined : Number(count) * SPANS_MS[unit as keyof typeof SPANS_MS]
}

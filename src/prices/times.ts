import { Failure } from '../lib/failure.ts'
import { EARLIEST_AT } from './check-rows.ts'

const DAY_MS = 86_400_000

export const TIME_HINT =
  'times are Unix seconds, milliseconds, microseconds or nanoseconds, or dates such as 2025-06-02 13:00:00, 2025.06.02 13:00 or 20250602130000, in UTC or with +02:00 behind them'

const UNITS_MS = [1000, 1, 0.001, 0.000_001] as const

const COMPACT = /^(\d{4})(\d\d)(\d\d)(?:(\d\d)(?:(\d\d)(\d\d)?)?)?$/

/**
 * Converts the column in place, from the only unit or kind of date that puts the numbers between
 * 2009 and tomorrow. @throws Failure RECORDING_TIME_UNIT
 */
export function toUnixMs(times: Float64Array, whereOf: (row: number) => string, now: number): void {
  const latest = now + 2 * DAY_MS
  for (let row = 0; row < times.length; row++) {
    const at = readTime(times[row] as number, latest)
    if (at === undefined) throw notInRange(times[row] as number, whereOf(row))
    times[row] = at
  }
}

function readTime(time: number, latest: number): number | undefined {
  for (const unitMs of UNITS_MS) {
    if (time * unitMs < EARLIEST_AT || time * unitMs > latest) continue
    // The product is rounded first, because 1585180700.0647 times 1000 is a little below 1585180700064.7.
    return unitMs > 1
      ? Math.floor(Math.round(time * 1e6) / 1000)
      : Math.floor(time / Math.round(1 / unitMs))
  }
  const digits = COMPACT.exec(String(time))
  const at = digits ? dateOf(digits.slice(1)) : undefined
  return at !== undefined && at >= EARLIEST_AT && at <= latest ? at : undefined
}

function notInRange(time: number, where: string): Failure {
  return new Failure({
    code: 'RECORDING_TIME_UNIT',
    sentence: 'the time is in no unit a time between 2009 and tomorrow',
    facts: { where, found: String(time) },
    hint: `check the order of the columns; ${TIME_HINT}`,
  })
}

function dateOf([year, month, day, hour = '0', minute = '0', second = '0']: readonly (
  | string
  | undefined
)[]): number | undefined {
  const [y, mo, d, h, mi, s] = [year, month, day, hour, minute, second].map(Number) as DateParts
  const at = Date.UTC(y, mo - 1, d, h, mi, s)
  const date = new Date(at)
  const isDay =
    date.getUTCFullYear() === y && date.getUTCMonth() === mo - 1 && date.getUTCDate() === d
  return isDay && h <= 23 && mi <= 59 && s <= 59 ? at : undefined
}
type DateParts = [number, number, number, number, number, number]

const DATE =
  /^(\d{4})([-./]?)(\d\d)\2(\d\d)(?:[ TD](\d\d):?(\d\d)(?::?(\d\d)(\.\d{1,9})?)?)? ?(?:Z|UTC|GMT|(?:UTC|GMT)?([+-])(\d\d):?(\d\d))?$/

/** With points the day comes first, as in Dukascopy's `01.06.2025 00:00`. */
const DAY_FIRST = /^(\d\d)\.(\d\d)\.(\d{4})(?= \d\d:)/

/**
 * `2025-06-02 13:00:00+00:00`, `2025.06.02 13:00`, `02.06.2025 13:00 GMT+0100` or `20250602
 * 130000`; UTC without a zone. @returns undefined for other text
 */
export function parseDate(text: string): number | undefined {
  const match = DATE.exec(text.replace(DAY_FIRST, '$3.$2.$1'))
  if (!match) return undefined
  const [, year, , month, day, hour, minute, second, fraction = '', sign, zoneHours, zoneMinutes] =
    match
  const at = dateOf([year, month, day, hour, minute, second])
  const isOfOurs = Number(year) >= 2009 && Number(year) < 2100
  // No zone is more than 14 hours ahead.
  if (at === undefined || !isOfOurs || Number(zoneHours ?? 0) > 14) return undefined
  const zoneMs = (Number(zoneHours ?? 0) * 60 + Number(zoneMinutes ?? 0)) * 60_000
  return at + Math.floor(Number(`0${fraction}`) * 1000) - (sign === '-' ? -zoneMs : zoneMs)
}

/**
 * Reads an offset from UTC: `UTC`, `+02:00`, `-0530`, `UTC+2`, `2`. @returns undefined for a name such as
 * `Europe/Berlin`, whose offset changes in the year
 */
export function parseZone(text: string): number | undefined {
  if (/^(?:Z|(?:Etc\/)?(?:UTC|GMT)|Zulu)$/i.test(text)) return 0
  const [, sign, hours, minutes = '0'] =
    /^(?:UTC|GMT)? ?([+-]?)(\d{1,2}(?=$|:)|\d\d)(?::?(\d\d))?$/i.exec(text) ?? []
  if (hours === undefined || Number(hours) > 14 || Number(minutes) > 59) return undefined
  const zoneMs = (Number(hours) * 60 + Number(minutes)) * 60_000
  return sign === '-' ? -zoneMs : zoneMs
}

export function parseClock(text: string): number | undefined {
  const [, hour, minute, second = '0', fraction = ''] =
    /^(\d\d?):(\d\d)(?::(\d\d)(\.\d{1,9})?)?$/.exec(text) ?? []
  if (hour === undefined || Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59)
    return undefined
  const seconds = (Number(hour) * 60 + Number(minute)) * 60 + Number(second)
  return seconds * 1000 + Math.floor(Number(`0${fraction}`) * 1000)
}

const SPANS_MS = { w: 604_800_000, d: 86_400_000, h: 3_600_000, m: 60_000, s: 1000, ms: 1 } as const

/** `1m`, `4h`, `1d`. */
export function nameInterval(intervalMs: number): string {
  const [unit = 'ms', ms = 1] =
    Object.entries(SPANS_MS).find(([, span]) => intervalMs % span === 0) ?? []
  return `${intervalMs / ms}${unit}`
}

const SPAN_NAMES: Readonly<Record<string, number>> = {
  ...SPANS_MS,
  sec: SPANS_MS.s,
  min: SPANS_MS.m,
  minute: SPANS_MS.m,
  hour: SPANS_MS.h,
  day: SPANS_MS.d,
  S: SPANS_MS.s,
  H: SPANS_MS.h,
  D: SPANS_MS.d,
  W: SPANS_MS.w,
}

export function readInterval(text: string): number | undefined {
  return /^\d/.test(text) ? intervalInName(`-${text}`) : undefined
}

/** `-1m`, `_1min`, `, 1D`, and MetaTrader's `_M1`. */
export function intervalInName(name: string): number | undefined {
  const [, count, unit = ''] =
    /[-_ ](\d{1,3})(ms|sec|s|minute|min|m|hour|h|day|d|w|[SHDW])(?![A-Za-z0-9])/.exec(name) ?? []
  if (count !== undefined) return Number(count) * (SPAN_NAMES[unit] as number)
  const [, letter = '', number] = /[-_]([MHDW])(\d{1,2})(?![A-Za-z0-9])/.exec(name) ?? []
  return number === undefined
    ? undefined
    : Number(number) * SPANS_MS[letter.toLowerCase() as 'm' | 'h']
}

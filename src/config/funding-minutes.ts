/** The times of funding in the configuration: minutes after midnight UTC, rising. */
import type { DaemonFile } from './schema/daemon-schema.ts'

const DAY_MINUTES = 1440
const HOUR_MINUTES = 60
/** The default interval. */
const USUAL_HOURS = 8

/** An instrument has its own hours, else the calendar, else every 8 hours. */
export function fundingMinutesOf(
  { calendar, instruments }: Pick<DaemonFile, 'calendar' | 'instruments'>,
  symbol: string,
): readonly number[] {
  const hours = instruments[symbol]?.fundingHours
  return hours === undefined ? usualFundingMinutes(calendar) : everyHours(hours)
}

/** The times of instruments without their own: the calendar's, else every 8 hours. */
export function usualFundingMinutes(calendar: DaemonFile['calendar']): readonly number[] {
  const minutes = calendarFundingMinutes(calendar)
  return minutes.length > 0 ? minutes : everyHours(USUAL_HOURS)
}

/**
 * The times of a pattern such as `5 0 0,8,16 * * *`: its seconds are only the wait for the payment.
 * Empty for a pattern that does not apply every day, or in another time zone.
 */
export function calendarFundingMinutes({
  funding,
  timezone,
}: DaemonFile['calendar']): readonly number[] {
  const [, minuteField = '', hourField = ''] =
    /^(?:\S+ )?(\S+) (\S+) \* \* \*$/.exec(funding.trim()) ?? []
  if (timezone !== 'UTC') return []
  const minutes = readField(minuteField, HOUR_MINUTES)
  return readField(hourField, DAY_MINUTES / HOUR_MINUTES)
    .flatMap((hour) => minutes.map((minute) => hour * HOUR_MINUTES + minute))
    .toSorted((one, other) => one - other)
}

/** Funding times at this interval, from midnight on. */
export function everyHours(hours: number): readonly number[] {
  const count = Math.floor(DAY_MINUTES / (hours * HOUR_MINUTES))
  return Array.from({ length: count }, (_, index) => index * hours * HOUR_MINUTES)
}

/**
 * Values of a cron field below an end: lists of numbers, ranges and steps. Empty for anything else.
 */
function readField(field: string, end: number): readonly number[] {
  const values = new Set<number>()
  for (const part of field.split(',')) {
    const match = /^(?:\*|(\d+)(?:-(\d+))?)(?:\/([1-9]\d*))?$/.exec(part)
    if (match === null) return []
    const [, first, last = first, step = '1'] = match
    const to = last === undefined ? end - 1 : Math.min(Number(last), end - 1)
    for (let value = Number(first ?? 0); value <= to; value += Number(step)) values.add(value)
  }
  return [...values].toSorted((one, other) => one - other)
}

/** Minutes after midnight UTC, ascending. */
import { everyHours } from '../domain/instrument.ts'
import type { DaemonFile } from './schema/daemon-schema.ts'

const DAY_MINUTES = 1440
const HOUR_MINUTES = 60
const USUAL_HOURS = 8

/** The hours of the instrument count first, then the calendar; without both it is every 8 hours. */
export function fundingMinutesOf(
  { calendar, instruments }: Pick<DaemonFile, 'calendar' | 'instruments'>,
  symbol: string,
): readonly number[] {
  const hours = instruments[symbol]?.fundingHours
  return hours === undefined ? usualFundingMinutes(calendar) : everyHours(hours)
}

export function usualFundingMinutes(calendar: DaemonFile['calendar']): readonly number[] {
  const minutes = calendarFundingMinutes(calendar)
  return minutes.length > 0 ? minutes : everyHours(USUAL_HOURS)
}

/**
 * The seconds of `5 0 0,8,16 * * *` only wait for the payment. Empty unless it applies every day in
 * UTC.
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

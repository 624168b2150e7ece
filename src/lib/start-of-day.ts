const SECOND_MS = 1000
const MINUTE_MS = 60 * SECOND_MS
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

const formats = new Map<string, Intl.DateTimeFormat>()
const dates = new Map<string, Intl.DateTimeFormat>()

/** Where midnight is left out, the day begins after it. */
export function startOfDay(at: number, timeZone: string): number {
  const begin = at - sinceMidnight(at, timeZone)
  // The clocks were changed since midnight.
  const beyond = sinceMidnight(begin, timeZone)
  if (beyond === 0) return begin
  return beyond < DAY_MS / 2 ? begin - beyond : begin + (DAY_MS - beyond)
}

/** A date such as `2025-06-02` that the zone left out begins with the next. */
export function startOfDate(date: string, timeZone: string): number {
  const noon = Date.parse(date) + DAY_MS / 2
  const candidates = [noon - DAY_MS, noon, noon + DAY_MS].map((at) => startOfDay(at, timeZone))
  const found = candidates.find((at) => dateOf(at, timeZone) >= date)
  return found ?? startOfDay(noon, timeZone)
}

export function dateOf(at: number, timeZone: string): string {
  let format = dates.get(timeZone)
  if (format === undefined) {
    format = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short' })
    dates.set(timeZone, format)
  }
  return format.format(at)
}

/** ISO 8601: a week belongs to its Thursday's year. */
export function weekOf(date: string): string {
  const at = Date.parse(date)
  const weekday = (new Date(at).getUTCDay() + 6) % 7
  const thursday = new Date(at + (3 - weekday) * DAY_MS)
  const year = thursday.getUTCFullYear()
  const week = 1 + Math.floor((thursday.getTime() - Date.UTC(year, 0, 1)) / (7 * DAY_MS))
  return `${year}-W${String(week).padStart(2, '0')}`
}

function sinceMidnight(at: number, timeZone: string): number {
  let format = formats.get(timeZone)
  if (format === undefined) {
    format = new Intl.DateTimeFormat('en-GB', { timeZone, hourCycle: 'h23', timeStyle: 'medium' })
    formats.set(timeZone, format)
  }
  const [hours = 0, minutes = 0, seconds = 0] = format.format(at).split(':').map(Number)
  return hours * HOUR_MS + minutes * MINUTE_MS + seconds * SECOND_MS + (at % SECOND_MS)
}

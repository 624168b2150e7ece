/**
 * Unix ms of a date or time in ISO 8601; undefined if it is none. `Date.parse` alone reads the 30th
 * of February as a day of March.
 */
export function parseTime(text: string): number | undefined {
  const at = Date.parse(text)
  const [day] = /^\d{4}-\d{2}-\d{2}/.exec(text) ?? []
  return Number.isNaN(at) || (day !== undefined && !isDay(day)) ? undefined : at
}

function isDay(day: string): boolean {
  const at = Date.parse(day)
  return !Number.isNaN(at) && new Date(at).toISOString().startsWith(day)
}

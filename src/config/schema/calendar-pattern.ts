import { validateDetailed } from 'node-cron'

/**
 * The problem of a cron pattern of five fields, or six that begin with seconds; undefined if there
 * is none.
 */
export function explainPattern(pattern: string): string | undefined {
  const { valid, errors } = validateDetailed(pattern)
  if (valid) return undefined
  return `expected a cron pattern (${errors.map(({ message }) => message).join('; ')})`
}

/** Whether the runtime knows the time zone. node-cron would find out only when the first job is due. */
export function isTimeZone(timeZone: string): boolean {
  // The default. Asking the runtime costs a start 15 ms.
  if (timeZone === 'UTC') return true
  try {
    new Intl.DateTimeFormat('en', { timeZone })
    return true
  } catch {
    return false
  }
}

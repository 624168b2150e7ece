import { validateDetailed } from 'node-cron'

/** Five fields, or six that begin with seconds. */
export function explainPattern(pattern: string): string | undefined {
  const { valid, errors } = validateDetailed(pattern)
  if (valid) return undefined
  return `expected a cron pattern (${errors.map(({ message }) => message).join('; ')})`
}

/** node-cron would fail only when the first job is due. */
export function isTimeZone(timeZone: string): boolean {
  // Asking the runtime for this default would cost a start 15 ms.
  if (timeZone === 'UTC') return true
  try {
    new Intl.DateTimeFormat('en', { timeZone })
    return true
  } catch {
    return false
  }
}

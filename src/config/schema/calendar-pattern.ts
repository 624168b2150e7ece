/** A cheap check of cron patterns and time zones, so that a bad one is found before anything is scheduled. */

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']
const WEEKDAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat']

interface Field {
  readonly name: string
  readonly least: number
  readonly most: number
  readonly names?: readonly string[]
}

const FIELDS: readonly Field[] = [
  { name: 'second', least: 0, most: 59 },
  { name: 'minute', least: 0, most: 59 },
  { name: 'hour', least: 0, most: 23 },
  { name: 'day of the month', least: 1, most: 31 },
  { name: 'month', least: 1, most: 12, names: MONTHS },
  { name: 'day of the week', least: 0, most: 7, names: WEEKDAYS },
]

/** What is wrong with a cron pattern of five fields, or six that begin with seconds; undefined when nothing is. */
export function explainPattern(pattern: string): string | undefined {
  const texts = pattern.trim().split(/\s+/)
  if (texts.length !== 5 && texts.length !== 6) {
    return `expected a cron pattern of 5 fields, or 6 that begin with seconds; got ${texts.length}`
  }
  const fields = FIELDS.slice(FIELDS.length - texts.length)
  for (const [index, field] of fields.entries()) {
    const text = texts[index] ?? ''
    const isGood = text.split(',').every((part) => isPart(part.toLowerCase(), field))
    if (!isGood)
      return `expected ${field.name} from ${field.least} to ${field.most}, *, a-b or */n; got "${text}"`
  }
  return undefined
}

/** Whether the runtime knows the time zone. node-cron would find out only when the first job is due. */
export function isTimeZone(timeZone: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone })
    return true
  } catch {
    return false
  }
}

/** `*`, `7`, `1-5`, `mon`, each with an optional `/n`. */
function isPart(part: string, field: Field): boolean {
  const [range = '', step, ...rest] = part.split('/')
  if (rest.length > 0) return false
  if (step !== undefined && !(/^\d{1,2}$/.test(step) && Number(step) > 0)) return false
  if (range === '*') return true
  const ends = range.split('-').map((end) => valueOf(end, field))
  const [first, last = first] = ends
  return (
    ends.length <= 2 &&
    first !== undefined &&
    last !== undefined &&
    !ends.includes(undefined) &&
    first <= last
  )
}

function valueOf(text: string, { least, most, names = [] }: Field): number | undefined {
  const named = names.indexOf(text)
  if (named >= 0) return named + least
  if (!/^\d{1,2}$/.test(text)) return undefined
  const value = Number(text)
  return value >= least && value <= most ? value : undefined
}

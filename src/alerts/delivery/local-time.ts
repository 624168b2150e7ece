const MINUTES_PER_HOUR = 60

export interface LocalTime {
  readonly day: string
  readonly minute: number
}

export function createLocalClock(timeZone: string): (at: number) => LocalTime {
  // The Swedish format is ISO 8601's.
  const format = new Intl.DateTimeFormat('sv-SE', {
    timeZone,
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  })
  return (at) => {
    const [day = '', time = ''] = format.format(at).split(' ')
    return { day, minute: toMinute(time) }
  }
}

export function toMinute(time: string): number {
  const [hours = 0, minutes = 0] = time.split(':').map(Number)
  return hours * MINUTES_PER_HOUR + minutes
}

/** The span passes midnight if `to` is earlier. */
export function isBetween(
  minute: number,
  { from, to }: { readonly from: string; readonly to: string },
): boolean {
  const [start, end] = [toMinute(from), toMinute(to)]
  return start < end ? minute >= start && minute < end : minute >= start || minute < end
}

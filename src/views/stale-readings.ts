import type { StaleReading } from '../engine/state/readings.ts'

export interface StaleGroup {
  /** Such as `fills and the positions of BTCUSDT, ETHUSDT`. */
  readonly what: string
  /** The age of the oldest; infinite if one was never read. */
  readonly ageMs: number
  readonly since: string
  readonly reason: string
}

const POSITION = 'position '

const NAMED_MAX = 5

/** @param now Unix ms, our clock */
export function groupStale(readings: readonly StaleReading[], now: number): readonly StaleGroup[] {
  return [...Map.groupBy(readings, ({ reason }) => reason)].map(([reason, alike]) => {
    const readAt = Math.min(...alike.map((reading) => reading.readAt))
    const ago = `last read ${((now - readAt) / 1000).toFixed(1)} s ago`
    return {
      what: nameAll(alike.map(({ what }) => what)),
      ageMs: readAt === 0 ? Number.POSITIVE_INFINITY : now - readAt,
      since:
        readAt === 0
          ? 'not read yet'
          : `${ago}, at ${new Date(readAt).toISOString().slice(11, 19)} UTC`,
      reason,
    }
  })
}

export function describeStale({ what, since, reason }: StaleGroup): string {
  return `${what}: ${since}: ${reason}`
}

function nameAll(names: readonly string[]): string {
  const symbols = names.flatMap((name) =>
    name.startsWith(POSITION) ? [name.slice(POSITION.length)] : [],
  )
  const more = symbols.length > NAMED_MAX ? ` and ${symbols.length - NAMED_MAX} more` : ''
  const named = symbols.slice(0, NAMED_MAX).join(', ') + more
  const positions =
    symbols.length === 0 ? [] : [`the position${symbols.length > 1 ? 's' : ''} of ${named}`]
  return [...(symbols.length < names.length ? ['fills'] : []), ...positions].join(' and ')
}

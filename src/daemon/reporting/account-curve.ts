import type { AccountView } from '../../control/views.ts'
import {
  ACCOUNT_SERIES,
  CURVE_STEPS_MS,
  toAccountPoint,
  toAccountValue,
} from '../../journal/curves.ts'
import type { CurveStore } from '../../journal/journal.ts'
import type { Clock } from '../../lib/clock.ts'
import { messageOf } from '../../lib/failure.ts'
import type { DaemonLogger } from '../../logging/logger.ts'

const DAY_MS = 86_400_000
const WEEK_MS = 7 * DAY_MS

export interface AccountCurveOptions {
  readonly journal: CurveStore
  /** The present figures; undefined: the run has not begun, or is over. */
  readonly read: () => Pick<AccountView, 'profit' | 'equity' | 'peak'> | undefined
  readonly clock: Pick<Clock, 'now'>
  readonly logger: Pick<DaemonLogger, 'log'>
}

interface KnownEquity {
  readonly at: number
  readonly equity: string
}

/**
 * A point a minute of equity, net profit and peak, in the journal; the last week's equity by hour
 * in memory.
 */
export class AccountCurve {
  readonly #options: AccountCurveOptions
  /** One an hour, the oldest first. */
  #week: KnownEquity[] = []
  /** Unix ms: the minute of the last point. */
  #minute = 0

  constructor(options: AccountCurveOptions) {
    const { journal, clock, logger } = options
    this.#options = options
    try {
      const since = clock.now() - WEEK_MS - CURVE_STEPS_MS.hour
      const everyMs = CURVE_STEPS_MS.hour
      for (const point of journal.curve({ series: ACCOUNT_SERIES, since, everyMs }))
        this.#note(toAccountPoint(point))
    } catch (error) {
      logger.log('warn', 'curve.unread', { reason: messageOf(error) })
    }
  }

  /** Called each second, takes a point once a minute. */
  look(): void {
    const { read, clock, journal } = this.#options
    const now = clock.now()
    const minute = now - (now % CURVE_STEPS_MS.minute)
    if (minute <= this.#minute) return
    const found = read()
    if (found === undefined) return
    const { equity, peak, profit } = found
    const net = profit.total.netWithUnrealised
    if (equity === null && net === null) return
    this.#minute = minute
    const value = toAccountValue({ equity, net, peak })
    journal.notePoints([{ series: ACCOUNT_SERIES, at: minute, value }])
    this.#note({ at: minute, equity })
  }

  /** A day and a week ago; null: not known. */
  before(): AccountView['equityBefore'] {
    const now = this.#options.clock.now()
    return { day: this.#equityAt(now - DAY_MS), week: this.#equityAt(now - WEEK_MS) }
  }

  #note({ at, equity }: { readonly at: number; readonly equity: string | null }): void {
    if (equity === null) return
    const last = this.#week.at(-1)
    const hour = at - (at % CURVE_STEPS_MS.hour)
    if (last !== undefined && last.at >= hour) return
    this.#week.push({ at, equity })
    const since = at - WEEK_MS - CURVE_STEPS_MS.hour
    if (this.#week[0] && this.#week[0].at < since)
      this.#week = this.#week.filter((one) => one.at >= since)
  }

  /** The last known before, perhaps an hour older. */
  #equityAt(at: number): string | null {
    const found = this.#week.findLast((one) => one.at <= at)
    return found && found.at > at - CURVE_STEPS_MS.hour ? found.equity : null
  }
}

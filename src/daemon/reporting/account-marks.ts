import type { DaemonConfig } from '../../config/load-config.ts'
import { capitalOf } from '../../engine/book/book.ts'
import { CURVE_STEPS_MS, MARK_SERIES, toMarkValue } from '../../journal/curves.ts'
import type { CurveStore } from '../../journal/journal.ts'
import type { Clock } from '../../lib/clock.ts'
import { messageOf } from '../../lib/failure.ts'
import { startOfDay } from '../../lib/start-of-day.ts'
import type { DaemonLogger } from '../../logging/logger.ts'
import { viewProfit } from '../../views/money-view.ts'
import type { ShownAccount } from '../../views/shown-account.ts'

const { hour: HOUR_MS } = CURVE_STEPS_MS

export interface AccountMarksOptions {
  readonly config: Pick<DaemonConfig, 'calendar'>
  readonly journal: CurveStore
  readonly trusted: { readonly clock: Pick<Clock, 'now'> }
  readonly shown: () => ShownAccount
  readonly logger: Pick<DaemonLogger, 'log'>
}

/**
 * Notes what the account is worth as each hour and each day of its time zone begins, for statements
 * that begin or end there. A run that was down notes it as soon as it is known again.
 */
export class AccountMarks {
  readonly #options: AccountMarksOptions
  /** Unix ms: a mark is due that is taken at this instant or later. */
  #dueAt = 0

  constructor(options: AccountMarksOptions) {
    const { journal, trusted, logger } = options
    this.#options = options
    try {
      const since = trusted.clock.now() - 2 * HOUR_MS
      const [last] = [...journal.curve({ series: MARK_SERIES, since })].slice(-1)
      if (last !== undefined) this.#dueAt = this.#nextAfter(last.at)
    } catch (error) {
      logger.log('warn', 'curve.unread', { reason: messageOf(error) })
    }
  }

  /** Called each second. */
  look(): void {
    const { trusted, journal } = this.#options
    const now = trusted.clock.now()
    if (now < this.#dueAt) return
    const shown = this.#options.shown()
    // Fills of before the hour must be known.
    if (shown.state !== 'begun' || shown.engine.fillsReadAt < this.#dueAt) return
    const { net, unrealised } = viewProfit(shown).total
    if (shown.engine.fillsReadAt === 0 || unrealised === null) return
    this.#dueAt = this.#nextAfter(now)
    const capital = capitalOf(shown)?.toString() ?? null
    const value = toMarkValue({ capital, made: net, unrealised })
    journal.notePoints([{ series: MARK_SERIES, at: Math.round(now), value }])
  }

  /** A time zone may begin its day between two hours. */
  #nextAfter(at: number): number {
    const hour = at - (at % HOUR_MS) + HOUR_MS
    const day = startOfDay(hour - 1, this.#options.config.calendar.timezone)
    return day > at ? day : hour
  }
}

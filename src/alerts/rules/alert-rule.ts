import type { LogEvent } from '../../domain/log-events.ts'
import type { Urgency } from '../alert.ts'
import type { LogFacts } from './facts.ts'

/** How a log event becomes an alert. */
export interface AlertRule {
  readonly urgency: Urgency | ((facts: LogFacts) => Urgency)
  /** The event and its place, in plain words. */
  readonly title: (facts: LogFacts) => string
  /** The fields that make two events the same alert. */
  readonly by: readonly string[]
  /** The command to type next, without `intentd`; undefined if none helps. */
  readonly command?: (facts: LogFacts) => string | undefined
  /** Other lines of this event are no alert. */
  readonly when?: (facts: LogFacts) => boolean
  /**
   * This event with the same fields ends the trouble, and the end is an alert too. The trouble is
   * an alert only when it lasts.
   */
  readonly endedBy?: LogEvent
  /** For trouble that ends: alert at once, however soon it is over. */
  readonly atOnce?: true
  /** An alert only when it happens repeatedly. */
  readonly counted?: true
}

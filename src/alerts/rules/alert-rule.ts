import type { LogEvent } from '../../domain/log-events.ts'
import type { Urgency } from '../alert.ts'
import type { Facts } from './facts.ts'

/** How a log event becomes an alert. */
export interface AlertRule {
  readonly urgency: Urgency | ((facts: Facts) => Urgency)
  /** What happened and where, in plain words. */
  readonly title: (facts: Facts) => string
  /** The fields that make two of them the same alert. */
  readonly by: readonly string[]
  /** The command to type next, behind `intentd`; undefined where none helps. */
  readonly command?: (facts: Facts) => string | undefined
  /** Other lines of this event are nobody's business. */
  readonly when?: (facts: Facts) => boolean
  /** Over with this event, of the same fields: its end is an alert too. An alert only when it lasts. */
  readonly endedBy?: LogEvent
  /** Of one that ends: an alert at once, however soon it is over. */
  readonly atOnce?: true
  /** An alert only when it happens again and again. */
  readonly counted?: true
}

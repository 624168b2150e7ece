import type { LogEvent } from '../../domain/log-events.ts'
import type { Urgency } from '../alert.ts'
import type { LogFacts } from './facts.ts'

export interface AlertRule {
  readonly urgency: Urgency | ((facts: LogFacts) => Urgency)
  /** The event and its place, in plain words. */
  readonly title: (facts: LogFacts) => string
  /** Fields that make two events the same alert. */
  readonly by: readonly string[]
  /** Without `intentd`, if a command helps. */
  readonly command?: (facts: LogFacts) => string | undefined
  /** Other lines of this event are no alert. */
  readonly when?: (facts: LogFacts) => boolean
  /**
   * This event with the same fields ends the trouble, which is another alert. The trouble itself is
   * an alert only when it lasts.
   */
  readonly endedBy?: LogEvent
  /** An alert at once, however soon it ends. */
  readonly atOnce?: true
  /** An alert only on repetition. */
  readonly counted?: true
}

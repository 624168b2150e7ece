import type { LogEvent } from '../../domain/log-events.ts'
import type { Urgency } from '../alert.ts'
import type { LogFacts } from './facts.ts'

export interface AlertRule {
  readonly urgency: Urgency | ((facts: LogFacts) => Urgency)
  readonly title: (facts: LogFacts) => string
  /** Fields of the log line: lines that are equal in them are one trouble. */
  readonly by: readonly string[]
  readonly command?: (facts: LogFacts) => string | undefined
  /** Lines for which it is false are no alert. */
  readonly when?: (facts: LogFacts) => boolean
  /**
   * Names the event that ends the trouble. The end is an alert too, and the trouble is one only
   * when it lasts.
   */
  readonly endedBy?: LogEvent
  /** With `endedBy`: sent at its beginning, not only when it lasts. */
  readonly atOnce?: true
  /** An alert only when it comes often (`repeatsMin` within `repeatMs`). */
  readonly counted?: true
}

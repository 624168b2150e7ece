import type { LogEvent } from '../../domain/log-events.ts'
import type { Urgency } from '../alert.ts'
import type { LogFacts } from './facts.ts'

export interface AlertRule {
  readonly urgency: Urgency | ((facts: LogFacts) => Urgency)
  readonly title: (facts: LogFacts) => string
  readonly by: readonly string[]
  /** Without `intentd`, if a command helps. */
  readonly command?: (facts: LogFacts) => string | undefined
  readonly when?: (facts: LogFacts) => boolean
  /**
   * Ends the trouble, which is another alert, and the trouble itself is an alert only when it
   * lasts.
   */
  readonly endedBy?: LogEvent
  /** However soon it ends. */
  readonly atOnce?: true
  readonly counted?: true
}

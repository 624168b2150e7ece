import type { LogEvent } from '../../domain/log-events.ts'
import type { Urgency } from '../alert.ts'
import type { LogFacts } from './facts.ts'

export interface AlertRule {
  readonly urgency: Urgency | ((facts: LogFacts) => Urgency)
  readonly title: (facts: LogFacts) => string
  readonly by: readonly string[]
  readonly command?: (facts: LogFacts) => string | undefined
  readonly when?: (facts: LogFacts) => boolean
  /**
   * Names the event that ends the trouble. The end is an alert too, and the trouble is one only
   * when it lasts.
   */
  readonly endedBy?: LogEvent
  readonly atOnce?: true
  readonly counted?: true
}

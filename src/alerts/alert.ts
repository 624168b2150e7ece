import type { LogEvent } from '../domain/log-events.ts'

/** From what can wait to what wakes somebody. */
export type Urgency = 'info' | 'warning' | 'urgent'

/** What somebody should hear of. */
export interface Alert {
  readonly event: LogEvent | 'alert.test' | 'alert.digest'
  /** The same alert has the same key. */
  readonly key: string
  readonly urgency: Urgency
  /** What happened and where, in one sentence without its full stop. */
  readonly title: string
  /** What else is known, a line each. */
  readonly lines: readonly string[]
  /** What to type next; undefined where nothing is to be done at a shell. */
  readonly command?: string | undefined
  /** Its name, where the daemon has several. */
  readonly account?: string | undefined
  /** Unix ms. */
  readonly at: number
  /** How often the same happened again since it was last sent; 0 for one that is new. */
  readonly repeats: number
}

/** How urgent, as a number to compare. */
export function rankOf({ urgency }: Pick<Alert, 'urgency'>): number {
  return RANKS[urgency]
}

const RANKS = { info: 0, warning: 1, urgent: 2 } as const

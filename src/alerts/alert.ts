import type { LogEvent } from '../domain/log-events.ts'

/** From what can wait to what must wake the operator. */
export type Urgency = 'info' | 'warning' | 'urgent'

/** A message to the operator. */
export interface Alert {
  readonly event: LogEvent | 'alert.test' | 'alert.digest'
  /** Equal alerts have equal keys. */
  readonly key: string
  readonly urgency: Urgency
  /** The event and its place, in one sentence without its full stop. */
  readonly title: string
  /** Further facts, a line each. */
  readonly lines: readonly string[]
  /** The next command to type; undefined if no command helps. */
  readonly command?: string | undefined
  /** The account's name, if the daemon has several. */
  readonly account?: string | undefined
  /** Unix ms. */
  readonly at: number
  /** How often the same happened again since it was last sent; 0 for a new alert. */
  readonly repeats: number
}

/** The urgency as a number, for comparison. */
export function rankOf({ urgency }: Pick<Alert, 'urgency'>): number {
  return RANKS[urgency]
}

const RANKS = { info: 0, warning: 1, urgent: 2 } as const

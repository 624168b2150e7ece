import type { LogEvent } from '../domain/log-events.ts'

export type Urgency = 'info' | 'warning' | 'urgent'

/** Closed trades alone, or with every fill. */
export type TradeMessage = 'alert.closed' | 'alert.trades'

export interface Alert {
  readonly event: LogEvent | 'alert.test' | 'alert.digest' | TradeMessage
  /** Equal alerts have equal keys. */
  readonly key: string
  readonly urgency: Urgency
  /** A sentence without its full stop. */
  readonly title: string
  /** A line each. */
  readonly lines: readonly string[]
  /** The next command, if one helps. */
  readonly command?: string | undefined
  /** Set if the daemon has several. */
  readonly account?: string | undefined
  /** Unix ms. */
  readonly at: number
  /** Since the last message; 0 for a new alert. */
  readonly repeats: number
}

export function rankOf({ urgency }: Pick<Alert, 'urgency'>): number {
  return RANKS[urgency]
}

const RANKS = { info: 0, warning: 1, urgent: 2 } as const

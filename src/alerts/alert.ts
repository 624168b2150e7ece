import type { LogEvent } from '../domain/log-events.ts'

export type Urgency = 'info' | 'warning' | 'urgent'

/** Closed trades alone, or with every fill. */
export type TradeMessage = 'alert.closed' | 'alert.trades'

export interface Alert {
  readonly event: LogEvent | 'alert.test' | 'alert.digest' | TradeMessage
  readonly key: string
  readonly urgency: Urgency
  readonly title: string
  readonly lines: readonly string[]
  readonly command?: string | undefined
  readonly account?: string | undefined
  readonly at: number
  /** Counts equal alerts since the last message. */
  readonly repeats: number
}

export function rankOf({ urgency }: Pick<Alert, 'urgency'>): number {
  return RANKS[urgency]
}

const RANKS = { info: 0, warning: 1, urgent: 2 } as const

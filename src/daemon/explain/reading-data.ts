import type { DaemonConfig } from '../../config/load-config.ts'
import type { ClosedTradesQuery, JournalQuery } from '../../control/detail-views.ts'

/** What the thread that reads is given once. */
export interface ReadingData {
  readonly config: Pick<DaemonConfig, 'account' | 'instruments'>
  /** Its file. */
  readonly journal: string
  /** The folder of their reports. */
  readonly backtests: string
}

/** What it is asked. */
export type Reading =
  | { readonly kind: 'explain'; readonly subject: string }
  | { readonly kind: 'journal'; readonly query: JournalQuery }
  | { readonly kind: 'trades'; readonly query: ClosedTradesQuery }
  | { readonly kind: 'backtests' }

export interface Asked {
  readonly id: number
  readonly reading: Reading
}

export interface Answered {
  readonly id: number
  readonly found?: unknown
  /** Why nothing was found out. */
  readonly reason?: string
}

import type { DaemonConfig } from '../../config/load-config.ts'
import type { ClosedTradesQuery, JournalQuery } from '../../control/detail-views.ts'

export interface ReadingData {
  readonly config: Pick<DaemonConfig, 'account' | 'instruments'>
  readonly journal: string
  readonly backtests: string
}

export type Reading =
  | { readonly kind: 'explain'; readonly subject: string }
  | { readonly kind: 'journal'; readonly query: JournalQuery }
  | { readonly kind: 'trades'; readonly query: ClosedTradesQuery }
  | { readonly kind: 'backtests' }

export interface ReadingRequest {
  readonly id: number
  readonly reading: Reading
}

export interface ReadingReply {
  readonly id: number
  readonly found?: unknown
  readonly reason?: string
}

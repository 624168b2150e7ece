import type { ControlAnswer, ControlRequest } from './commands.ts'
import type {
  BacktestView,
  CandleView,
  CurvesView,
  DenialsView,
  FleetView,
  InstrumentView,
  JournalQuery,
  JournalRowView,
  ReloadView,
  StoryView,
} from './detail-views.ts'
import type { EventHistory } from './event-history.ts'
import type { WhatIfQuery, WhatIfView } from './what-if-view.ts'
import type { FillView, OrderView, PositionView, StatusView } from './views.ts'

/** Whether the daemon does what it is for. */
export interface Readiness {
  readonly isReady: boolean
  /** Each check, and what it found. */
  readonly checks: Readonly<Record<string, { readonly ok: boolean; readonly found: string }>>
}

/**
 * A running daemon, as whoever looks at it and commands it sees it. It answers at once, from memory; what gives a
 * promise is read beside it.
 */
export interface Controlled {
  readonly events: EventHistory
  status(): StatusView
  positions(): readonly PositionView[]
  /** Of one instrument, or of all. */
  orders(symbol?: string): readonly OrderView[]
  /** The last ones of one instrument or of all, the newest first. */
  fills(limit: number, symbol?: string): readonly FillView[]
  /** The oldest first; undefined where the instrument is not traded, or no such candles are kept. */
  candles(symbol: string, intervalMs: number): readonly CandleView[] | undefined
  curves(): CurvesView
  /** Counts each account anew. */
  whatIf(query: WhatIfQuery): Promise<readonly WhatIfView[]>
  /** Undefined where it is not traded. */
  instrument(symbol: string): InstrumentView | undefined
  denials(): DenialsView
  /** All that the journal has of a clientOid or an intent key. */
  explain(subject: string): Promise<readonly StoryView[]>
  /** The newest first. */
  journal(query: JournalQuery): Promise<readonly JournalRowView[]>
  backtests(): Promise<readonly BacktestView[]>
  /** All accounts of the journal's server; undefined where it is a file. */
  fleet(): Promise<FleetView> | undefined
  /** Runs a whole reload dry; undefined where none is possible now. */
  tryReload(): Promise<ReloadView> | undefined
  readiness(): Readiness
  /** In the text format of Prometheus. */
  metrics(): string
  /** @param verified What is known of the caller: `port:control.token`, `socket:uid 1000`. */
  command(request: ControlRequest, verified: string): ControlAnswer
}

import type { ControlAnswer, ControlRequest } from './commands.ts'
import type {
  BacktestView,
  CandleView,
  ClosedTradesQuery,
  ClosedTradesView,
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

/** Whether the daemon is able to trade. */
export interface Readiness {
  readonly isReady: boolean
  /** Each check and its finding. */
  readonly checks: Readonly<Record<string, { readonly ok: boolean; readonly found: string }>>
}

/**
 * A running daemon as the control interface sees it. It answers at once, from memory; reads that
 * return a promise run beside it.
 */
export interface Controlled {
  readonly events: EventHistory
  status(): StatusView
  positions(): readonly PositionView[]
  /** The orders of one instrument, or of all. */
  orders(symbol?: string): readonly OrderView[]
  /** The last fills of one instrument or of all, the newest first. */
  fills(limit: number, symbol?: string): readonly FillView[]
  /** The last closed trades of all runs. */
  trades(query: ClosedTradesQuery): Promise<ClosedTradesView>
  /** The oldest first; undefined if the instrument is not traded, or no such candles are stored. */
  candles(symbol: string, intervalMs: number): readonly CandleView[] | undefined
  curves(): CurvesView
  /** Computes the figures of each account anew. */
  whatIf(query: WhatIfQuery): Promise<readonly WhatIfView[]>
  /** Undefined if the instrument is not traded. */
  instrument(symbol: string): InstrumentView | undefined
  denials(): DenialsView
  /** Everything that the journal has about a clientOid or an intent key. */
  explain(subject: string): Promise<readonly StoryView[]>
  /** The newest first. */
  journal(query: JournalQuery): Promise<readonly JournalRowView[]>
  backtests(): Promise<readonly BacktestView[]>
  /** All accounts on the journal's server; undefined if the journal is a file. */
  fleet(): Promise<FleetView> | undefined
  /** Runs a whole reload dry; undefined if none is possible now. */
  tryReload(): Promise<ReloadView> | undefined
  readiness(): Readiness
  /** In the text format of Prometheus. */
  metrics(): string
  /** @param verified The verified part of the caller: `port:control.token`, `socket:uid 1000`. */
  command(request: ControlRequest, verified: string): ControlAnswer
}

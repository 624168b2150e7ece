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

export interface Readiness {
  readonly isReady: boolean
  readonly checks: Readonly<Record<string, { readonly ok: boolean; readonly found: string }>>
}

/** A running daemon. It answers at once from memory; reads that return a promise run beside it. */
export interface Controlled {
  readonly events: EventHistory
  status(): StatusView
  positions(): readonly PositionView[]
  /** Default: all. */
  orders(symbol?: string): readonly OrderView[]
  /** Newest first. */
  fills(limit: number, symbol?: string): readonly FillView[]
  trades(query: ClosedTradesQuery): Promise<ClosedTradesView>
  /** Oldest first; undefined for an untraded instrument or another interval. */
  candles(symbol: string, intervalMs: number): readonly CandleView[] | undefined
  curves(): CurvesView
  whatIf(query: WhatIfQuery): Promise<readonly WhatIfView[]>
  /** Undefined if not traded. */
  instrument(symbol: string): InstrumentView | undefined
  denials(): DenialsView
  /** @param subject a clientOid or an intent key */
  explain(subject: string): Promise<readonly StoryView[]>
  /** Newest first. */
  journal(query: JournalQuery): Promise<readonly JournalRowView[]>
  backtests(): Promise<readonly BacktestView[]>
  /** Undefined if the journal is a file. */
  fleet(): Promise<FleetView> | undefined
  /** Undefined if none is possible now. */
  tryReload(): Promise<ReloadView> | undefined
  readiness(): Readiness
  /** Text format of Prometheus. */
  metrics(): string
  /** @param verified verified origin: `port:control.token`, `socket:uid 1000` */
  command(request: ControlRequest, verified: string): ControlAnswer
}

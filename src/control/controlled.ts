import type { ControlAnswer, ControlRequest } from './commands.ts'
import type {
  BacktestView,
  CandleDetail,
  ClosedTradesQuery,
  ClosedTradesView,
  CurvesView,
  DenialsView,
  ExplainQuery,
  FillsQuery,
  FleetView,
  InstrumentDetail,
  JournalFillsView,
  JournalProfitView,
  JournalQuery,
  JournalRowView,
  KeptCurveView,
  KeptPlotView,
  ProfitQuery,
  ReloadView,
  StoryView,
} from './detail-views.ts'
import type { EventHistory } from './event-history.ts'
import type { RiskierCommand } from './powers.ts'
import type { UniverseView } from './universe-view.ts'
import type { WhatIfQuery, WhatIfView } from './what-if-view.ts'
import type { FillView, OrderView, PositionView, StatusView } from './views.ts'

export interface CommandPlan {
  /** A proposal is valid only while these stay the same. */
  readonly changes: readonly string[]
  readonly notes: readonly string[]
  readonly refusal?: string
}

/** A one-time code confirmed a proposal. */
export interface Approval {
  readonly text: string
  /** The changes as they were shown. An act that would change something else is refused. */
  readonly changes: readonly string[]
}

export interface ReloadRequest {
  readonly by: string
  readonly reason: string
  /** The only changes that are approved; undefined: any. */
  readonly approved?: readonly string[] | undefined
}

export interface Readiness {
  readonly isReady: boolean
  readonly checks: Readonly<Record<string, { readonly ok: boolean; readonly found: string }>>
}

export interface CommandOutcome {
  /** True once `written` says the same: what was commanded acts in memory already. */
  readonly answer: ControlAnswer
  /**
   * The answer that lasts, when the record is durable: an order may have been dropped since.
   * Uncertain: the run broke down first. Absent: nothing has to be written. A refusal waits for the
   * records that it rests on.
   */
  readonly written?: Promise<ControlAnswer>
  /** Says what holds until then. */
  readonly unwritten?: string
}

/** Answers at once from memory; a read that returns a promise runs elsewhere. */
export interface Controlled {
  readonly events: EventHistory
  status(): StatusView
  positions(): readonly PositionView[]
  /** Default: all. */
  orders(symbol?: string): readonly OrderView[]
  /** Newest first. */
  fills(limit: number, symbol?: string): readonly FillView[]
  /** From the journal, of all runs; the oldest first. */
  journalFills(query: FillsQuery): Promise<JournalFillsView>
  journalProfit(query: ProfitQuery): Promise<JournalProfitView>
  trades(query: ClosedTradesQuery): Promise<ClosedTradesView>
  /** Oldest first; undefined for an untraded instrument or another interval. */
  candles(symbol: string, intervalMs: number): readonly CandleDetail[] | undefined
  curves(): CurvesView
  /** @param since Unix ms; default: all that is kept */
  keptCurve(since?: number): Promise<KeptCurveView>
  plots(symbol: string, since?: number): Promise<readonly KeptPlotView[]>
  whatIf(query: WhatIfQuery): Promise<readonly WhatIfView[]>
  universes(): readonly UniverseView[]
  /** Undefined if not traded. */
  instrument(symbol: string): InstrumentDetail | undefined
  denials(): DenialsView
  /** @param subject a clientOid or an intent key */
  explain(query: ExplainQuery): Promise<readonly StoryView[]>
  /** Newest first. */
  journal(query: JournalQuery): Promise<readonly JournalRowView[]>
  backtests(): Promise<readonly BacktestView[]>
  /** Undefined if the journal is a file. */
  fleet(): Promise<FleetView> | undefined
  /** Undefined if no reload is possible now. */
  tryReload(): Promise<ReloadView> | undefined
  readiness(): Readiness
  metrics(): string
  /** Changes nothing. */
  planCommand(order: RiskierCommand): CommandPlan | Promise<CommandPlan>
  /**
   * @param verified origin: `port:control.token`, `socket:uid 1000`
   * @param approval of an order that was only proposed
   */
  command(request: ControlRequest, verified: string, approval?: Approval): CommandOutcome
}

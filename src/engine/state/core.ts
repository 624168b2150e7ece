import { type DenialCode } from '../../domain/denial.ts'
import { type FeedId, type FeedReading } from '../../domain/feed.ts'
import { type ClientOid, type OrderId, type StrategyId } from '../../domain/ids.ts'
import { type Instrument } from '../../domain/instrument.ts'
import { type JournalRecord } from '../../domain/record.ts'
import { type TickerTable } from '../../domain/ticker-table.ts'
import { Failure } from '../../lib/failure.ts'
import { applyRecord } from '../book/apply-record.ts'
import { type Book } from '../book/book.ts'
import { type Announcement, type Effect } from '../effect.ts'
import { type GrantedEndpoint } from '../event.ts'
import { type KillPlan } from '../lifecycle/kill-plan.ts'
import { createInstrumentState, type InstrumentState } from './instrument-state.ts'
import { type EngineSettings } from '../settings.ts'
import { type StartPlan } from '../lifecycle/start-plan.ts'
import { type StopPlan } from '../lifecycle/stop-plan.ts'

/**
 * `starting` reads what the exchange holds; strategies do not run yet · `running` · `killed` creates nothing,
 * takes everything away and goes on looking, until an operator releases it · `stopping` decides nothing any
 * more and brings in what is out · `stopped`.
 */
export type Mode = 'starting' | 'running' | 'killed' | 'stopping' | 'stopped'

/** A cancel-all that is not answered yet. */
export interface CancelOnWire {
  /** The instruments of ours that it touches. */
  readonly symbols: readonly string[]
  /** Whether it names the product type alone, and takes what is not ours too. */
  readonly takesProduct: boolean
  /** The instruments whose resolution this is the cancel-all of: its answer is their proof. */
  readonly joined: string[]
  /** Unix ms, exchange clock as we know it. */
  readonly requestAt: number
}

/** What the core holds beside the book: all of it can be lost, and is, at a restart. */
export interface Core {
  readonly settings: EngineSettings
  readonly book: Book
  readonly instruments: ReadonlyMap<string, InstrumentState>
  /** What this step wants done, in order. */
  effects: Effect[]
  /** Unix ms, our clock, of the event that is being handled; and how far the exchange's clock is ahead. */
  now: number
  offsetMs: number | undefined
  /** Unix ms, our clock, when that was last measured for sure; and why it is in doubt since. */
  clockMeasuredAt: number
  clockUnsynchronised: string | undefined
  mode: Mode
  tickers: TickerTable | undefined
  snapshots: number
  start: StartPlan
  /** Unix ms, our clock: fills that were readable by then are known. 0 never. */
  fillsReadAt: number
  /** When the fills were last asked for, to space repeated asks. */
  fillsAskedAt: number
  /** Endpoints for which a grant was asked and has not come. */
  readonly asked: Set<GrantedEndpoint>
  /** The cancel-all calls and batches that are on the wire. */
  cancelId: number
  /** Unix ms, our clock, when the last cancel-all was handed out; 0 never. */
  cancelSentAt: number
  readonly cancels: Map<number, CancelOnWire>
  readonly batches: Map<number, { readonly symbol: string; readonly clientOids: readonly ClientOid[] }>
  /** Calls on the account that are on the wire, by number; and when those that failed may be tried again. */
  callId: number
  readonly calls: Map<number, string>
  readonly callsNotBefore: Map<string, number>
  /** A ladder that was filled is not planned again before its strategy has seen that: the snapshot it needs. */
  readonly quoteHolds: Map<string, number>
  /** By strategy, symbol and purpose: the last refusal by the exchange, and how many came one after the other. */
  readonly refusals: Map<string, { readonly at: number; readonly inRow: number }>
  /** The snapshot that each strategy decided on last. */
  readonly decidedOn: Map<StrategyId, number>
  /** When orphaned fills were first seen, by orderId. */
  readonly orphansSince: Map<OrderId, number>
  /** The last reading of each feed. */
  readonly feeds: Map<FeedId, FeedReading>
  /** How often each denial code was given in this life. */
  readonly denied: Map<DenialCode, number>
  /** The journal's disk is nearly full: nothing that adds risk leaves. */
  isSpaceLow: boolean
  stop: StopPlan | undefined
  kill: KillPlan | undefined
  /** Standing wishes of a strategy are placed once it has decided on this snapshot or a later one. */
  wishesFrom: number
  prunedAt: number
  /** Unix ms, our clock, when this life began: the machine's clock may have been set since the one before. */
  startedAt: number
}

export function createCore(settings: EngineSettings, book: Book): Core {
  const instruments = new Map(
    [...settings.instruments.keys()].map((symbol) => [symbol, createInstrumentState(symbol)]),
  )
  return {
    settings,
    book,
    instruments,
    effects: [],
    now: 0,
    offsetMs: undefined,
    clockMeasuredAt: 0,
    clockUnsynchronised: undefined,
    mode: 'starting',
    tickers: undefined,
    snapshots: 0,
    start: { phase: 'reading', readSince: 0 },
    fillsReadAt: 0,
    fillsAskedAt: 0,
    asked: new Set(),
    cancelId: 0,
    cancelSentAt: 0,
    cancels: new Map(),
    batches: new Map(),
    callId: 0,
    calls: new Map(),
    callsNotBefore: new Map(),
    quoteHolds: new Map(),
    refusals: new Map(),
    decidedOn: new Map(),
    orphansSince: new Map(),
    feeds: new Map(),
    denied: new Map(),
    isSpaceLow: false,
    stop: undefined,
    kill: undefined,
    wishesFrom: 1,
    prunedAt: 0,
    startedAt: 0,
  }
}

/** The exchange's clock as we know it, Unix ms. */
export function exchangeNow(core: Core): number {
  return core.now + (core.offsetMs ?? 0)
}

/**
 * The one way to change the book: the record goes to the journal and into the fold. With `durable` nothing
 * that follows in this step is sent before the record would survive the process.
 */
export function record(core: Core, entry: JournalRecord, durable = false): void {
  applyRecord(core.book, entry)
  core.effects.push({ kind: 'record', record: entry, durable })
}

export function announce(
  core: Core,
  level: Announcement['level'],
  event: string,
  fields: Readonly<Record<string, unknown>>,
): void {
  core.effects.push({ kind: 'announce', level, event, fields })
}

/** @throws Failure for a symbol that the config does not list: the shell never lets one in. */
export function specOf(core: Core, symbol: string): Instrument {
  const instrument = core.settings.instruments.get(symbol)
  if (!instrument)
    throw new Failure({ code: 'ENGINE_INSTRUMENT_UNKNOWN', sentence: `no instrument ${symbol}` })
  return instrument
}

export function instrumentOf(core: Core, symbol: string): InstrumentState {
  const instrument = core.instruments.get(symbol)
  if (!instrument)
    throw new Failure({ code: 'ENGINE_INSTRUMENT_UNKNOWN', sentence: `no instrument for ${symbol}` })
  return instrument
}

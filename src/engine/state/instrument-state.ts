import type { ClientOid } from '../../domain/ids.ts'
import { canRest, type OrderState } from '../../domain/order.ts'
import { own } from '../../lib/own.ts'
import { openOrdersOf } from '../book/book.ts'
import { clockUnsynchronised, exchangeNow } from './market-state.ts'
import type { Core, DisplacedOrder, InstrumentState, OpenCancel, Resolution } from './core.ts'
import type { InstrumentStart } from './run-state.ts'
import { totalsOf } from './changes.ts'

/** An instrument joins while the account runs, and is proved as at a start. */
export function addInstrument({ instruments }: Pick<Core, 'instruments'>, symbol: string): void {
  own(instruments).set(symbol, createInstrumentState(symbol))
}

export function removeInstrument({ instruments }: Core, symbol: string): void {
  own(instruments).delete(symbol)
}

export function createInstrumentState(symbol: string): InstrumentState {
  return {
    symbol,
    phase: 'idle',
    resolution: undefined,
    cancelResolutions: 0,
    wantsBatchSince: undefined,
    wantsReduce: false,
    wantsCancel: false,
    lateCancelUntil: 0,
    unwantedSince: new Map(),
    crossedSince: new Map(),
    displaced: [],
    position: {
      agreedAt: 0,
      readAt: 0,
      mismatch: undefined,
      writtenOff: undefined,
      movedAt: 0,
      isConfirmed: false,
      recentFills: [],
      pending: undefined,
    },
    setup: { found: new Map(), marginMode: undefined, leverage: undefined },
    start: { stage: 'reading', readSince: 0 },
  }
}

export function noteStartStage(instrument: InstrumentState, start: InstrumentStart): void {
  own(instrument).start = start
}

/** Whether this run has proved the instrument's position and orders. Before that it is not traded. */
export function isProved({ start }: InstrumentState): boolean {
  return start.stage === 'proved'
}

/** Whether the instrument is not traded yet because of the start. Never during a stop. */
export function isStarting({ run }: Core, instrument: InstrumentState): boolean {
  return run.phase === 'starting' || (run.phase === 'running' && !isProved(instrument))
}

/** A batch is about to leave. */
export function enterPlacing(instrument: InstrumentState): void {
  own(instrument).phase = 'placing'
}

/** The batch was answered. */
export function leavePlacing(instrument: InstrumentState): void {
  if (instrument.phase === 'placing') own(instrument).phase = 'idle'
}

export function enterResolving(instrument: InstrumentState, resolution: Resolution): void {
  const state = own(instrument)
  state.phase = 'resolving'
  state.resolution = resolution
  state.wantsBatchSince = undefined
  state.wantsCancel = false
  state.crossedSince.clear()
  if (resolution.cancels) noteCancelResolution(instrument)
}

/** Counts a resolution that cancels, whether from its beginning or decided later. */
export function noteCancelResolution(instrument: InstrumentState): void {
  own(instrument).cancelResolutions += 1
}

export function leaveResolving(instrument: InstrumentState): void {
  const state = own(instrument)
  state.phase = 'idle'
  state.resolution = undefined
}

/** @param since Unix ms, our clock; ignored where the instrument waits already. */
export function wantBatch(instrument: InstrumentState, since: number, reduces: boolean): void {
  const state = own(instrument)
  state.wantsBatchSince ??= since
  state.wantsReduce = reduces
}

export function wantNoBatch(instrument: InstrumentState): void {
  own(instrument).wantsBatchSince = undefined
}

export function noteCancelDue(instrument: InstrumentState, isDue: boolean): void {
  own(instrument).wantsCancel = isDue
}

/** Notes which resting orders no strategy wants. @param now Unix ms, our clock. */
export function noteUnwanted(
  instrument: InstrumentState,
  clientOids: readonly ClientOid[],
  now: number,
): void {
  keepSince(own(instrument).unwantedSince, clientOids, now)
}

/** Notes which resting orders the market has gone beyond. @param now Unix ms, our clock. */
export function noteCrossed(
  instrument: InstrumentState,
  clientOids: readonly ClientOid[],
  now: number,
): void {
  keepSince(own(instrument).crossedSince, clientOids, now)
}

function keepSince(
  since: Map<ClientOid, number>,
  clientOids: readonly ClientOid[],
  now: number,
): void {
  const present = new Set(clientOids)
  for (const clientOid of since.keys()) if (!present.has(clientOid)) since.delete(clientOid)
  for (const clientOid of present) if (!since.has(clientOid)) since.set(clientOid, now)
}

export function noteDisplaced(
  instrument: InstrumentState,
  displaced: readonly DisplacedOrder[],
): void {
  own(instrument).displaced = [...displaced]
}

/** A cancel-all without a record may arrive at the exchange until then; Unix ms, our clock. */
export function noteLateCancel(instrument: InstrumentState, until: number): void {
  own(instrument).lateCancelUntil = Math.max(instrument.lateCancelUntil, until)
}

/**
 * How long a cancel-all may be carried out after it was made, which the request itself states (document:
 * receiveWindow). One that arrived when the instrument is traded again would cancel the new orders.
 */
export const RECEIVE_WINDOW_MS = 5000
/** How far what we know of the exchange's clock may be wrong. */
const CLOCK_ERROR_MS = 1000

/**
 * The cancel-all of `requestAt` (Unix ms, exchange clock) gets no answer any more. It may still be carried out until its
 * receive window is over, which counts from `requestAt` however late the call was signed and sent.
 */
export function noteUnansweredCancel(
  core: Core,
  instrument: InstrumentState,
  {
    requestAt,
    clockAheadMs,
  }: Pick<OpenCancel, 'requestAt'> & Partial<Pick<OpenCancel, 'clockAheadMs'>>,
): void {
  const arrivesWithinMs = RECEIVE_WINDOW_MS + CLOCK_ERROR_MS
  const sentAt = requestAt - (clockAheadMs ?? exchangeNow(core) - core.now)
  // It has left: so much is certain where the clocks are not.
  const isKnown = clockAheadMs !== undefined || clockUnsynchronised(core) === undefined
  noteLateCancel(instrument, (isKnown ? Math.min(sentAt, core.now) : core.now) + arrivesWithinMs)
}

/** Whether an order is known to rest on the instrument. */
export function hasResting(core: Core, symbol: string): boolean {
  for (const { state, terms } of openOrdersOf(core.book, symbol)) {
    if (state === 'live' && canRest(terms)) return true
  }
  return false
}

/** Whether the instrument has an open order in that state. */
export function hasOrder(core: Core, symbol: string, wanted: OrderState): boolean {
  return totalsOf(core, symbol).states.has(wanted)
}

import type { ClientOid } from '../../domain/ids.ts'
import { canRest, type OrderState } from '../../domain/order.ts'
import { mutable } from '../../lib/mutable.ts'
import { openOrdersOf } from '../book/book.ts'
import { clockUnsynchronised, exchangeNow } from './market-state.ts'
import type { Core, DisplacedOrder, InstrumentState, OpenCancel, Resolution } from './core.ts'
import type { InstrumentStart } from './run-state.ts'
import { totalsOf } from './totals.ts'

export function addInstrument({ instruments }: Pick<Core, 'instruments'>, symbol: string): void {
  mutable(instruments).set(symbol, createInstrumentState(symbol))
}

export function removeInstrument({ instruments }: Core, symbol: string): void {
  mutable(instruments).delete(symbol)
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
      heardAt: 0,
      mismatch: undefined,
      writtenOff: undefined,
      movedAt: 0,
      isConfirmed: false,
      recentFills: [],
      pending: undefined,
    },
    setup: {
      found: new Map(),
      marginMode: undefined,
      sentMode: undefined,
      refusedMode: undefined,
      leverage: undefined,
    },
    start: { stage: 'reading', readSince: 0 },
  }
}

export function enterStartStage(instrument: InstrumentState, start: InstrumentStart): void {
  mutable(instrument).start = start
}

/** An instrument is traded once it is proved. */
export function isProved({ start }: InstrumentState): boolean {
  return start.stage === 'proved'
}

export function isStarting({ run }: Core, instrument: InstrumentState): boolean {
  return run.phase === 'starting' || (run.phase === 'running' && !isProved(instrument))
}

export function enterPlacing(instrument: InstrumentState): void {
  mutable(instrument).phase = 'placing'
}

export function leavePlacing(instrument: InstrumentState): void {
  if (instrument.phase === 'placing') mutable(instrument).phase = 'idle'
}

export function enterResolving(instrument: InstrumentState, resolution: Resolution): void {
  const state = mutable(instrument)
  state.phase = 'resolving'
  state.resolution = resolution
  state.wantsBatchSince = undefined
  state.wantsCancel = false
  state.crossedSince.clear()
  if (resolution.cancels) noteCancelResolution(instrument)
}

/** A resolution may cancel from its beginning, or decide so later. */
export function noteCancelResolution(instrument: InstrumentState): void {
  mutable(instrument).cancelResolutions += 1
}

export function leaveResolving(instrument: InstrumentState): void {
  const state = mutable(instrument)
  state.phase = 'idle'
  state.resolution = undefined
}

/** A batch that is wanted already keeps its earlier `since`. */
export function wantBatch(instrument: InstrumentState, since: number, reduces: boolean): void {
  const state = mutable(instrument)
  state.wantsBatchSince ??= since
  state.wantsReduce = reduces
}

export function wantNoBatch(instrument: InstrumentState): void {
  mutable(instrument).wantsBatchSince = undefined
}

export function noteCancelDue(instrument: InstrumentState, isDue: boolean): void {
  mutable(instrument).wantsCancel = isDue
}

export function noteUnwanted(
  instrument: InstrumentState,
  clientOids: readonly ClientOid[],
  now: number,
): void {
  keepSince(mutable(instrument).unwantedSince, clientOids, now)
}

export function noteCrossed(
  instrument: InstrumentState,
  clientOids: readonly ClientOid[],
  now: number,
): void {
  keepSince(mutable(instrument).crossedSince, clientOids, now)
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
  mutable(instrument).displaced = [...displaced]
}

/** @param until a cancel-all may arrive until then */
export function noteLateCancel(instrument: InstrumentState, until: number): void {
  mutable(instrument).lateCancelUntil = Math.max(instrument.lateCancelUntil, until)
}

/** A request that arrives later is not carried out (document: receiveWindow). */
export const RECEIVE_WINDOW_MS = 5000
/** Our knowledge of the exchange's clock may be wrong by this. */
const CLOCK_ERROR_MS = 1000

/**
 * A cancel-all that gets no answer may be carried out, and cancel new orders, until its receive
 * window is over, which counts from `requestAt` (Unix ms, exchange clock), however late it was sent.
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
  // It has left by now, even if the clocks are uncertain.
  const isKnown = clockAheadMs !== undefined || clockUnsynchronised(core) === undefined
  noteLateCancel(instrument, (isKnown ? Math.min(sentAt, core.now) : core.now) + arrivesWithinMs)
}

export function hasResting(core: Core, symbol: string): boolean {
  for (const { state, terms } of openOrdersOf(core.book, symbol)) {
    if (state === 'live' && canRest(terms)) return true
  }
  return false
}

export function hasOrder(core: Core, symbol: string, wanted: OrderState): boolean {
  return totalsOf(core, symbol).states.has(wanted)
}

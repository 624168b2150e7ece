import { mutable } from '../../lib/mutable.ts'
import { accountHoldingOf, allOpenOrders, killOf, openOrdersOf } from '../book/book.ts'
import { isFlat } from '../../domain/position.ts'
import type { StopPolicy } from '../event.ts'
import { startResolution } from '../resolution/resolution.ts'
import {
  isHeldUpByRows,
  isUnreadable,
  refusalOfInstrument,
  UNREADABLE_PATIENCE_MS,
  unreadableSymbols,
} from '../resolution/unreadable.ts'
import { announce, type Core, emit, instrumentOf, type InstrumentState } from '../state/core.ts'
import { isAnythingOpenBeside } from '../state/open-calls.ts'
import { askForFills, askForPosition } from '../state/readings.ts'
import {
  beginStopping,
  enterPhase,
  noteFlatBeforeStop,
  type StopProgress,
} from '../state/run-state.ts'
import { recordAllExits } from '../state/exits.ts'
import { expirePlaces, recordAllStates } from '../strategies/take-decision.ts'
import { describeOwned, holdsAnything } from './flatten.ts'

/**
 * The policy decides which phases there are (docs/start-and-stop.md says what ends each):
 *
 *     leave:    draining ──────────────────────────────────────────► proving ──► stopped
 *     cancel:   draining ──► cancelling ──► confirming (RSK3) ─────► proving ──► stopped
 *     flatten:  closing, as an operator's flatten does ──► as cancel
 */
type StopPhase = StopProgress['phase']

/**
 * Readings count from so long after the last call: an earlier one might agree with a moment between
 * two fills, and an embedded market may still move.
 */
const READABLE_AFTER_MS = 1500
const READ_AGAIN_MS = 500

/** A flattening stop keeps this part of `stopTimeoutMs` for cancel-alls and readings. */
const PROOF_MS = 10_000

export function askForStop(core: Core, policy: StopPolicy): void {
  const { phase, flatBeforeStop } = core.run
  if (phase === 'stopping' || phase === 'stopped') return
  // Under a kill nothing can be closed.
  if (policy !== 'flatten' || killOf(core.book) !== undefined) return startStop(core, policy)
  if (flatBeforeStop !== undefined) return
  noteFlatBeforeStop(core.run, { askedAt: core.now, cancelledBefore: countCancels(core) })
  announce(core, 'info', 'daemon.stopping', { policy })
  expirePlaces(core)
}

export function stopWhenFlat(core: Core): void {
  const { phase, flatBeforeStop } = core.run
  if (flatBeforeStop === undefined || phase === 'stopping' || phase === 'stopped') return
  const { askedAt } = flatBeforeStop
  const isOver =
    core.now - askedAt >= core.settings.execution.stopTimeoutMs - PROOF_MS ||
    isInVain(core, askedAt)
  const isAllClosed =
    phase === 'running' && !isBusy(core) && !hasOrdersToEnd(core) && !holdsAnything(core)
  if (isOver || isAllClosed) startStop(core, 'flatten', askedAt)
}

function isInVain(core: Core, askedAt: number): boolean {
  if (core.now - askedAt < UNREADABLE_PATIENCE_MS || isBusy(core)) return false
  const unread = new Set(unreadableSymbols(core))
  const isLeft = ({ symbol }: InstrumentState): boolean =>
    hasAnyOpenOrder(core, symbol) || holdsAnything(core, symbol)
  return (
    unread.size > 0 &&
    [...core.instruments.values()].every((one) => unread.has(one.symbol) || !isLeft(one))
  )
}

/** @param startedAt Unix ms, our clock: `stopTimeoutMs` counts from it */
export function startStop(core: Core, policy: StopPolicy, startedAt = core.now): void {
  if (core.run.phase === 'stopping' || core.run.phase === 'stopped') return
  recordAllStates(core)
  if (core.exits) recordAllExits(core)
  beginStopping(core.run, {
    policy,
    startedAt,
    phase: 'draining',
    provingAt: core.now,
    cancelledBefore: core.run.flatBeforeStop?.cancelledBefore ?? countCancels(core),
    foundBefore: core.calls.cancelsThatFound,
    askedAt: 0,
    wasBusy: false,
    isConfirmedInPart: false,
  })
  if (!core.run.flatBeforeStop) announce(core, 'info', 'daemon.stopping', { policy })
}

function countCancels({ instruments }: Core): ReadonlyMap<string, number> {
  return new Map(
    [...instruments.values()].map(({ symbol, cancelResolutions, resolution }) => [
      symbol,
      resolution?.cancels ? cancelResolutions - 1 : cancelResolutions,
    ]),
  )
}

export function advanceStop(core: Core): void {
  const { stop } = core.run
  if (!stop || core.run.phase !== 'stopping') return
  if (core.now - stop.startedAt >= core.settings.execution.stopTimeoutMs) return finish(core, false)
  if (isBusy(core)) {
    mutable(stop).wasBusy = true
    return
  }
  if (stop.phase !== 'proving') return enter(core, stop, nextPhase(core, stop))
  // An instrument that is readable again gets its second cancel-all too.
  if (stop.isConfirmedInPart && ![...core.instruments.values()].some((one) => isHeldUp(core, one)))
    return enter(core, stop, 'confirming')
  if (stop.wasBusy) beginProof(core, stop)
  prove(core, stop)
}

export function postponeStopDeadlines({ run }: Core, sleptMs: number): void {
  const { stop, flatBeforeStop: flat } = run
  if (stop) mutable(stop).startedAt += sleptMs
  if (flat) noteFlatBeforeStop(run, { ...flat, askedAt: flat.askedAt + sleptMs })
}

/**
 * A call is on the wire, or an instrument is placing or being resolved. An unreadable instrument
 * holds nothing up once its cancel-all was answered: what was open there stays unproved.
 */
export function isBusy(core: Core): boolean {
  const isRefused = (symbol: string): boolean =>
    refusalOfInstrument(core, instrumentOf(core, symbol)) !== undefined
  if (isAnythingOpenBeside(core, isRefused)) return true
  return [...core.instruments.values()].some((one) => one.phase !== 'idle' && !isHeldUp(core, one))
}

function isHeldUp(core: Core, one: InstrumentState): boolean {
  return isHeldUpByRows(core, one) || refusalOfInstrument(core, one) !== undefined
}

function nextPhase(core: Core, stop: StopProgress): StopPhase {
  if (stop.policy === 'leave') return 'proving'
  if (stop.phase === 'draining') return 'cancelling'
  if (stop.phase === 'cancelling') return hasOrdersToCancel(core) ? 'cancelling' : 'confirming'
  const hasFound = core.calls.cancelsThatFound > stop.foundBefore
  return hasFound ? 'confirming' : 'proving'
}

function enter(core: Core, stop: StopProgress, phase: StopPhase): void {
  if (stop.phase === phase && phase !== 'confirming') return
  const state = mutable(stop)
  state.phase = phase
  state.foundBefore = core.calls.cancelsThatFound
  announce(core, 'debug', 'stop.phase', { phase })
  if (phase === 'cancelling') resolveAll(core, ({ symbol }) => hasAnyOpenOrder(core, symbol))
  if (phase === 'confirming') {
    resolveAll(
      core,
      ({ symbol, cancelResolutions }) =>
        cancelResolutions > (stop.cancelledBefore.get(symbol) ?? 0),
    )
  }
  // Unreadable instruments lack a second cancel-all, even if they become readable before the proof
  // begins.
  if (phase === 'confirming' || phase === 'proving') {
    const isLeftOut = [...core.instruments.values()].some((one) => isHeldUp(core, one))
    if (phase === 'confirming') state.isConfirmedInPart = false
    state.isConfirmedInPart ||= stop.policy !== 'leave' && isLeftOut
  }
  if (phase !== 'proving') return
  beginProof(core, stop)
  emit(core, { kind: 'quiesced' })
}

function resolveAll(core: Core, isConcerned: (instrument: InstrumentState) => boolean): void {
  for (const instrument of core.instruments.values()) {
    if (isConcerned(instrument) && instrument.phase === 'idle')
      startResolution(core, instrument, 'command')
  }
}

/** Orders in quarantine wait for an operator. */
export function hasOrdersToEnd(core: Core, of?: string): boolean {
  return (of === undefined ? [...core.instruments.keys()] : [of]).some((symbol) =>
    [...openOrdersOf(core.book, symbol)].some(({ state }) => state !== 'quarantined'),
  )
}

function hasOrdersToCancel(core: Core): boolean {
  return [...core.instruments.values()].some(
    (one) => !isHeldUp(core, one) && hasOrdersToEnd(core, one.symbol),
  )
}

function hasAnyOpenOrder(core: Core, symbol: string): boolean {
  return (core.book.open.get(symbol)?.size ?? 0) > 0
}

function beginProof(core: Core, stop: StopProgress): void {
  const state = mutable(stop)
  state.wasBusy = false
  state.provingAt = core.now
}

/**
 * Every position must have been read late enough and agree, and no earlier fill may appear any more
 * (A2).
 */
function prove(core: Core, stop: StopProgress): void {
  const readableAt = stop.provingAt + READABLE_AFTER_MS
  const unproved = unprovedInstruments(core, stop)
  if (unproved.length === 0 && core.readings.fillsKnownUntil >= stop.provingAt) {
    return finish(core, stop.policy !== 'flatten' || !holdsAnything(core))
  }
  // That the exchange does not know an instrument any more is an answer.
  const isReadableNoMore =
    unproved.length > 0 && unproved.every((one) => refusalOfInstrument(core, one))
  if (isReadableNoMore && core.now >= readableAt && core.readings.fillsKnownUntil >= stop.provingAt)
    return finish(core, false)
  const isInTime = core.now < stop.provingAt + UNREADABLE_PATIENCE_MS
  if (!isInTime && unproved.every(({ symbol }) => isUnreadable(core, symbol)))
    return finish(core, false)
  if (core.now < readableAt || core.now - stop.askedAt < READ_AGAIN_MS) return
  mutable(stop).askedAt = core.now
  for (const { symbol } of unproved) askForPosition(core, symbol)
  // A position is compared only when fills are known beyond its moment.
  if (core.now >= stop.provingAt + core.settings.execution.fillVisibilityMs) askForFills(core)
}

export function unprovedByStop(core: Core): readonly InstrumentState[] {
  const { stop, phase } = core.run
  if (stop && phase === 'stopping' && stop.phase === 'proving')
    return unprovedInstruments(core, stop)
  const isClosing = core.run.flatBeforeStop !== undefined && phase !== 'stopping'
  const isLeft = ({ symbol }: InstrumentState): boolean =>
    isClosing
      ? hasAnyOpenOrder(core, symbol) || holdsAnything(core, symbol)
      : stop?.policy !== 'leave' && hasOrdersToEnd(core, symbol)
  return [...core.instruments.values()].filter((one) => one.phase !== 'idle' || isLeft(one))
}

function unprovedInstruments(core: Core, stop: StopProgress): readonly InstrumentState[] {
  const readableAt = stop.provingAt + READABLE_AFTER_MS
  return [...core.instruments.values()].filter(
    (one) =>
      (one.position.agreedAt < readableAt || one.phase !== 'idle') &&
      (refusalOfInstrument(core, one) === undefined || mayHaveLeftovers(core, one)),
  )
}

export function mayHaveLeftovers(core: Core, { symbol }: InstrumentState): boolean {
  return hasAnyOpenOrder(core, symbol) || !isFlat(accountHoldingOf(core.book, symbol))
}

/** A person must close by hand what a flattening stop could not. */
function finish(core: Core, clean: boolean): void {
  const { stop } = core.run
  const unprovedOnes = clean || !stop ? [] : unprovedInstruments(core, stop)
  const unproved = unprovedOnes.map(({ symbol }) => symbol)
  const refused = unprovedOnes.flatMap((one) => {
    const reason = refusalOfInstrument(core, one)
    return reason === undefined ? [] : [`${one.symbol}: ${reason}`]
  })
  enterPhase(core.run, 'stopped')
  const open = allOpenOrders(core.book)
  const stillHeld = core.run.stop?.policy === 'flatten' ? describeOwned(core) : {}
  const isHeld = Object.keys(stillHeld).length > 0
  announce(core, clean && !isHeld ? 'info' : 'error', 'daemon.stopped', {
    clean,
    policy: core.run.stop?.policy,
    openOrders: open.length,
    unknownOrders: open.filter((order) => order.state === 'unknown' || order.state === 'sent')
      .length,
    ...(unproved.length > 0 ? { unproved } : {}),
    ...(refused.length > 0 ? { reason: refused.join('; ') } : {}),
    ...(isHeld && { stillHeld }),
  })
  emit(core, { kind: 'stopped', clean })
}

import type { InstrumentSymbol } from '../../domain/ids.ts'
import { ACCOUNT } from '../../domain/trading-mode.ts'
import { mutable } from '../../lib/mutable.ts'
import { unreachable } from '../../lib/unreachable.ts'
import { killOf } from '../book/book.ts'
import { cancelProduct } from '../orders/cancel-all.ts'
import { startResolution } from '../resolution/resolution.ts'
import {
  refusalOfInstrument,
  UNREADABLE_PATIENCE_MS,
  unreadableSymbols,
  isUnreadable,
} from '../resolution/unreadable.ts'
import { clockUnsynchronised, exchangeNow } from '../state/market-state.ts'
import { announce, type Core, emit, type InstrumentState, record } from '../state/core.ts'
import { holdAllWishes } from '../state/decision-state.ts'
import { askForCancel, isAnythingOpen } from '../state/open-calls.ts'
import {
  replaceStopByKill,
  endKilling,
  enterPhase,
  type KillProgress,
  type StopProgress,
} from '../state/run-state.ts'
import { isKilling, restrict } from '../state/trading-mode.ts'
import type { CommandSource, StopPolicy } from '../event.ts'
import { describeOwned } from './flatten.ts'
import { hasOrdersToEnd, isBusy, mayHaveLeftovers, startStop, unprovedByStop } from './stop.ts'
import { expirePlaces } from '../strategies/take-decision.ts'

/**
 * A kill is done when it is proved that nothing of ours rests (RSK3). It stands until an operator
 * releases it, over restarts (RSK2). docs/trading-modes.md says how each phase ends, and what
 * becomes of an instrument that the exchange has removed.
 *
 *     cutting ──► draining ──► clearing ──► waiting ──► confirming ──► proving ──► clean
 *                                  ▲                         │             │         │
 *                                  └─────────────────────────┴──found something──────┘
 */
type KillPhase = KillProgress['phase']

/**
 * So many readings in a row must see the same; the first is late enough for the slowest fill (A2).
 */
const ROUNDS = 2
/**
 * Time after the acceptance deadline for cancel-alls of every instrument, one a second, and
 * readings.
 */
const PATIENCE_MS = 60_000
const SAID_AGAIN_MS_MAX = 16 * PATIENCE_MS

/** A second kill only drops a release that waits for the proof. */
export function startKill(core: Core, { reason, by }: CommandSource): void {
  if (core.run.phase === 'stopped') return
  if (killOf(core.book) !== undefined) return dropRelease(core)
  restrict(core, { scope: ACCOUNT, mode: 'killed', code: 'kill', reason, by })
  enterCutting(core)
}

function dropRelease(core: Core): void {
  const { kill } = core.run
  if (kill?.release === undefined) return
  const { reason, by } = kill.release
  mutable(kill).release = undefined
  announce(core, 'warn', 'kill.releaseDropped', { reason, by })
}

export function enterCutting(core: Core): void {
  const { phase, flatBeforeStop, stop } = core.run
  replaceStopByKill(core.run, {
    phase: 'cutting',
    foundBefore: core.calls.cancelsThatFound,
    roundAt: 0,
    rounds: 0,
    seen: '',
    leftOut: [],
    patientUntil: core.now + core.settings.execution.acceptanceWindowMs + PATIENCE_MS,
    saidAt: 0,
    said: '',
    saidTimes: 0,
    stopAskedAt: flatBeforeStop !== undefined || phase === 'stopping' ? core.now : undefined,
    stopPolicy: flatBeforeStop !== undefined || stop?.policy === 'flatten' ? 'flatten' : 'leave',
    release: undefined,
  })
  // A stop that had begun goes on when all is proved.
  if (phase === 'stopping') enterPhase(core.run, 'running')
  expirePlaces(core)
  emit(core, { kind: 'killState', state: 'seen' })
  askForCancel(core)
}

/** The release waits for the proof. */
export function releaseKill(core: Core, { reason, by }: CommandSource): void {
  const { kill } = core.run
  if (!kill) return announce(core, 'warn', 'kill.notThrown', { reason, by })
  if (!isKilling(core) || kill.phase !== 'clean') {
    mutable(kill).release = { reason, by }
    return announce(core, 'warn', 'kill.releasePending', { reason, by, phase: kill.phase })
  }
  record(core, { kind: 'released', at: core.now, scope: ACCOUNT, code: 'kill', reason, by }, true)
  announce(core, 'warn', 'kill.released', { reason, by })
  endKilling(core.run)
  holdAllWishes(core)
  emit(core, { kind: 'killState', state: 'released' })
  if (kill.stopAskedAt !== undefined) startStop(core, kill.stopPolicy, kill.stopAskedAt)
}

/**
 * A stop waits for the proof, but not for ever, since the kill stands in the journal. Nothing can
 * be closed, so a flattening stop does not end clean while something is held.
 */
export function stopWhenKilled({ run: { kill }, now }: Core, policy: StopPolicy): void {
  if (!kill) return
  const state = mutable(kill)
  state.stopAskedAt ??= now
  if (policy === 'flatten') state.stopPolicy = policy
}

export function isCutting({ run: { kill } }: Core): boolean {
  return kill?.phase === 'cutting'
}

export function cancelEverything(core: Core): void {
  cancelProduct(core, 'kill')
  if (core.run.kill) mutable(core.run.kill).phase = 'draining'
}

export function postponeKillDeadlines({ run: { kill } }: Core, sleptMs: number): void {
  if (!kill) return
  const state = mutable(kill)
  state.patientUntil += sleptMs
  if (state.stopAskedAt !== undefined) state.stopAskedAt += sleptMs
}

export function advanceKill(core: Core): void {
  const { kill } = core.run
  if (!kill || !isKilling(core)) return
  const next = nextPhase(core, kill)
  if (next !== kill.phase) enter(core, kill, next)
  if (kill.phase === 'clean' && kill.release) return releaseKill(core, kill.release)
  logIfLate(core, kill)
  if (kill.stopAskedAt === undefined) return
  const isOver =
    core.now - kill.stopAskedAt >= core.settings.execution.stopTimeoutMs || isInVain(core, kill)
  if (kill.phase === 'clean' || isOver) startStop(core, kill.stopPolicy, kill.stopAskedAt)
}

function nextPhase(core: Core, kill: KillProgress): KillPhase {
  switch (kill.phase) {
    case 'cutting':
      // `cancelEverything` ends this phase.
      return 'cutting'
    case 'draining':
      return isAnythingOpen(core) ? 'draining' : 'clearing'
    case 'clearing':
      return isUnsettled(core) || hasOrdersLeft(core) ? 'clearing' : 'waiting'
    case 'waiting':
      return isPastAcceptance(core) ? 'confirming' : 'waiting'
    case 'confirming':
      if (isListedAgain(core, kill)) return 'clearing'
      if (isUnsettled(core)) return 'confirming'
      return core.calls.cancelsThatFound > kill.foundBefore || hasOrdersLeft(core)
        ? 'clearing'
        : 'proving'
    case 'proving':
      return isUnsettled(core) || hasOrdersLeft(core) || isListedAgain(core, kill)
        ? 'clearing'
        : prove(core, kill)
    case 'clean':
      return hasOrdersToEnd(core) ? 'clearing' : 'clean'
    default:
      return unreachable(kill.phase)
  }
}

/**
 * A stop goes on without an unreadable instrument. A kill may not: the instrument would get no
 * second cancel-all, and the readings that end its resolution would count as the proof.
 */
function isUnsettled(core: Core): boolean {
  return isBusy(core) || listedInstruments(core).some(({ phase }) => phase !== 'idle')
}

function listedInstruments(core: Core): readonly InstrumentState[] {
  return [...core.instruments.values()].filter(
    (one) => refusalOfInstrument(core, one) === undefined,
  )
}

function hasOrdersLeft(core: Core): boolean {
  return listedInstruments(core).some(({ symbol }) => hasOrdersToEnd(core, symbol))
}

/** The values are the words of the exchange. */
function removedInstruments(core: Core): ReadonlyMap<string, string> {
  const removed = [...core.instruments.values()].flatMap((one) => {
    const reason = refusalOfInstrument(core, one)
    return reason === undefined || !mayHaveLeftovers(core, one)
      ? []
      : [[one.symbol, reason] as const]
  })
  return new Map(removed)
}

function isListedAgain(core: Core, { leftOut }: KillProgress): boolean {
  return (
    leftOut.length > 0 && listedInstruments(core).some(({ symbol }) => leftOut.includes(symbol))
  )
}

/**
 * Instruments that the exchange did not list when the others got their second cancel-all, or when
 * the proof began. An idle one still gets its own.
 */
function listLeftOut(core: Core, { leftOut }: KillProgress, phase: KillPhase): readonly string[] {
  if (phase !== 'confirming' && phase !== 'proving' && phase !== 'clean') return []
  const listed = new Set(listedInstruments(core))
  const removed = [...core.instruments.values()].filter(
    (one) => !listed.has(one) && (phase !== 'confirming' || one.phase !== 'idle'),
  )
  return [...new Set([...leftOut, ...removed.map(({ symbol }) => symbol)])]
}

function unprovedByKill(core: Core): readonly InstrumentState[] {
  const { kill } = core.run
  if (!kill || kill.phase === 'clean') return []
  const isRead = ({ position }: InstrumentState): boolean => position.agreedAt >= kill.roundAt
  return [...core.instruments.values()].filter((one) =>
    refusalOfInstrument(core, one) === undefined
      ? one.phase !== 'idle' ||
        hasOrdersToEnd(core, one.symbol) ||
        (kill.phase === 'proving' && !isRead(one))
      : mayHaveLeftovers(core, one),
  )
}

function enter(core: Core, kill: KillProgress, phase: KillPhase): void {
  Object.assign(mutable(kill), {
    phase,
    foundBefore: core.calls.cancelsThatFound,
    rounds: 0,
    seen: '',
    leftOut: listLeftOut(core, kill, phase),
    roundAt: core.now,
  } satisfies Partial<KillProgress>)
  announce(core, 'debug', 'kill.phase', { phase })
  if (phase === 'confirming') {
    for (const instrument of core.instruments.values()) {
      if (instrument.phase === 'idle') startResolution(core, instrument, 'command')
    }
  }
  if (phase !== 'clean') return
  announce(core, 'warn', 'kill.clean', {
    reason: killOf(core.book)?.reason,
    positions: describeOwned(core),
  })
  emit(core, { kind: 'killState', state: 'clean' })
}

/** A1: no order that ever left can be accepted any more, and the clocks are certain. */
function isPastAcceptance(core: Core): boolean {
  let sentAt = 0
  for (const { lastSentAt } of core.book.orders.values()) sentAt = Math.max(sentAt, lastSentAt)
  if (sentAt === 0) return true
  const acceptableUntil = sentAt + core.settings.execution.acceptanceWindowMs
  return clockUnsynchronised(core) === undefined && exchangeNow(core) >= acceptableUntil
}

function prove(core: Core, kill: KillProgress): KillPhase {
  if (kill.rounds >= ROUNDS) return removedInstruments(core).size > 0 ? 'proving' : 'clean'
  const isRead = listedInstruments(core).every(({ position }) => position.agreedAt >= kill.roundAt)
  if (!isRead || core.readings.fillsKnownUntil < kill.roundAt) return 'proving'
  const seen = JSON.stringify([core.book.fillsThroughAt, [...core.book.account]])
  const state = mutable(kill)
  state.rounds = seen === kill.seen ? kill.rounds + 1 : 1
  state.seen = seen
  state.roundAt = core.now
  return state.rounds >= ROUNDS && removedInstruments(core).size === 0 ? 'clean' : 'proving'
}

/** Only unreadable answers or a removed instrument hold the proof up. */
function isInVain(core: Core, { phase, roundAt, rounds }: KillProgress): boolean {
  if (phase === 'proving' && rounds >= ROUNDS) return true
  if (phase !== 'clearing' && phase !== 'confirming' && phase !== 'proving') return false
  if (core.now < roundAt + UNREADABLE_PATIENCE_MS || isBusy(core)) return false
  return unreadableSymbols(core).length > 0
}

function saidAgainMs({ saidTimes }: KillProgress): number {
  return Math.min(SAID_AGAIN_MS_MAX, PATIENCE_MS * 2 ** (saidTimes - 1))
}

function logIfLate(core: Core, kill: KillProgress): void {
  const isNewlyInVain = kill.saidAt < kill.roundAt && isInVain(core, kill)
  if (kill.phase === 'clean' || (core.now < kill.patientUntil && !isNewlyInVain)) return
  const removed = removedInstruments(core)
  const unproved = [...new Set([...unreadableSymbols(core), ...removed.keys()])]
  const reasons = [...removed].map(([symbol, reason]) => `${symbol}: ${reason}`)
  const said = JSON.stringify([kill.phase, unproved, reasons])
  mutable(kill).patientUntil = core.now + PATIENCE_MS
  const isNews = said !== kill.said
  if (!isNews && core.now < kill.saidAt + saidAgainMs(kill)) return
  const times = isNews ? 1 : kill.saidTimes + 1
  Object.assign(mutable(kill), { saidAt: core.now, said, saidTimes: times })
  announce(core, 'error', 'kill.unproved', {
    phase: kill.phase,
    ...(times > 1 && { times }),
    ...(unproved.length > 0 ? { unproved } : {}),
    ...(reasons.length > 0 && { reason: reasons.join('; ') }),
    hint:
      reasons.length > 0
        ? 'look at the exchange what became of orders there; take the instrument out of the configuration and restart: the kill is proved without it then'
        : 'look at the exchange: cancel by hand what rests there',
  })
}

export interface RunEnding {
  readonly kind: 'kill' | StopPolicy
  /**
   * `closing`: a flattening stop has not closed everything · `killing`: the stop waits for the
   * proof of a kill.
   */
  readonly phase: KillProgress['phase'] | StopProgress['phase'] | 'closing' | 'killing'
  /** Why each cannot be proved yet; an empty text where it only takes time. */
  readonly unproved: ReadonlyMap<InstrumentSymbol, string>
}

export function listEndings(core: Core): readonly RunEnding[] {
  const { kill, stop, flatBeforeStop, phase } = core.run
  if (kill && isKilling(core)) {
    const { stopAskedAt, stopPolicy } = kill
    const unproved = toReasons(core, unprovedByKill(core))
    return [
      ...(kill.phase === 'clean' ? [] : [{ kind: 'kill', phase: kill.phase, unproved } as const]),
      ...(stopAskedAt === undefined
        ? []
        : [{ kind: stopPolicy, phase: 'killing', unproved: NONE } as const]),
    ]
  }
  const unproved = (): RunEnding['unproved'] => toReasons(core, unprovedByStop(core))
  if (stop && phase === 'stopping')
    return [{ kind: stop.policy, phase: stop.phase, unproved: unproved() }]
  return flatBeforeStop === undefined || phase === 'stopped'
    ? []
    : [{ kind: 'flatten', phase: 'closing', unproved: unproved() }]
}

const NONE: RunEnding['unproved'] = new Map()

function toReasons(core: Core, instruments: readonly InstrumentState[]): RunEnding['unproved'] {
  return new Map(instruments.map((one) => [one.symbol, reasonOf(core, one)]))
}

function reasonOf(core: Core, instrument: InstrumentState): string {
  const { symbol, resolution } = instrument
  const refused = refusalOfInstrument(core, instrument) ?? resolution?.refusal ?? ''
  return refused === '' && isUnreadable(core, symbol) ? 'its readings cannot be read' : refused
}

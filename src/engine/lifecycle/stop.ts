import { type StrategyId } from '../../domain/ids.ts'
import { openOrdersOf, splitPair } from '../book/book.ts'
import { announce, type Core } from '../state/core.ts'
import { type StopPolicy } from '../event.ts'
import { startResolution } from '../resolution/resolution.ts'
import { fillsSince } from '../state/fills-since.ts'
import { type StopPhase, type StopPlan } from './stop-plan.ts'

/**
 * A position that is read earlier may agree with a moment between two fills of before, and an embedded market may
 * not stand still yet.
 */
const READABLE_AFTER_MS = 1500
/** The final readings are asked for again when they do not come. */
const READ_AGAIN_MS = 500

/** `startedAt`: Unix ms, our clock, when it was asked for; its patience counts from there. */
export function startStop(core: Core, policy: StopPolicy, startedAt = core.now): void {
  if (core.mode === 'stopping' || core.mode === 'stopped') return
  core.mode = 'stopping'
  core.stop = {
    policy,
    startedAt,
    phase: 'draining',
    provingAt: core.now,
    cancelled: new Set(
      [...core.instruments.values()]
        .filter((instrument) => instrument.resolution?.cancels)
        .map(({ symbol }) => symbol),
    ),
    hasFound: false,
    askedAt: 0,
    wasBusy: false,
  }
  announce(core, 'info', 'daemon.stopping', { policy })
}

/** Moves a stop on as far as it can go; runs after every event. */
export function advanceStop(core: Core): void {
  const { stop } = core
  if (!stop || core.mode !== 'stopping') return
  if (core.now - stop.startedAt >= core.settings.execution.stopTimeoutMs) return finish(core, false)
  if (isBusy(core)) {
    stop.wasBusy = true
    return
  }
  if (stop.phase !== 'proving') return enter(core, stop, nextPhase(core, stop))
  if (stop.wasBusy) beginProof(core, stop)
  prove(core, stop)
}

/** A call that is neither answered nor given up. */
export function isOnWire(core: Core): boolean {
  return core.batches.size > 0 || core.cancels.size > 0 || core.calls.size > 0
}

/** Something is on the wire, or a instrument is still being proved. */
export function isBusy(core: Core): boolean {
  if (isOnWire(core)) return true
  return [...core.instruments.values()].some((instrument) => instrument.phase !== 'idle')
}

function nextPhase(core: Core, stop: StopPlan): StopPhase {
  if (stop.policy === 'leave') return 'proving'
  if (stop.phase === 'draining') return 'cancelling'
  if (stop.phase === 'cancelling') return hasResting(core) ? 'cancelling' : 'confirming'
  if (stop.phase === 'confirming' && stop.hasFound) return 'confirming'
  if (stop.phase === 'confirming') return stop.policy === 'flatten' ? 'flattening' : 'proving'
  return holdsAnything(core) ? 'flattening' : 'proving'
}

function enter(core: Core, stop: StopPlan, phase: StopPhase): void {
  if (stop.phase === phase && phase !== 'confirming') return
  stop.phase = phase
  stop.hasFound = false
  announce(core, 'debug', 'stop.phase', { phase })
  if (phase === 'cancelling') resolveResting(core)
  if (phase === 'confirming') for (const symbol of stop.cancelled) resolution(core, symbol)
  if (phase !== 'proving') return
  beginProof(core, stop)
  core.effects.push({ kind: 'quiesced' })
}

function resolveResting(core: Core): void {
  for (const symbol of core.instruments.keys()) {
    if ([...openOrdersOf(core.book, symbol)].length === 0) continue
    resolution(core, symbol)
  }
}

function resolution(core: Core, symbol: string): void {
  const instrument = core.instruments.get(symbol)
  if (instrument?.phase === 'idle') startResolution(core, instrument, 'command')
}

function hasResting(core: Core): boolean {
  return [...core.instruments.keys()].some((symbol) =>
    [...openOrdersOf(core.book, symbol)].some((order) => order.state !== 'quarantined'),
  )
}

/** Lots too small to be an order are left. */
function holdsAnything(core: Core): boolean {
  return [...core.book.holdings].some(([key, holding]) => {
    const [strategyId, symbol] = splitPair(key)
    const lotsMin = core.settings.instruments.get(symbol)?.lotsMin ?? 1
    const bound = core.settings.strategies.get(strategyId as StrategyId)?.symbols.includes(symbol) ?? false
    return bound && Math.max(holding.longLots, holding.shortLots) >= lotsMin
  })
}

/** What was read before something was busy proves nothing any more. */
function beginProof(core: Core, stop: StopPlan): void {
  stop.wasBusy = false
  stop.provingAt = core.now
}

/** Each position was read since, and is what the fills explain; and no fill of before can show up any more (A2). */
function prove(core: Core, stop: StopPlan): void {
  const readableAt = stop.provingAt + READABLE_AFTER_MS
  const unproved = [...core.instruments.values()].filter(({ positionReadAt }) => positionReadAt < readableAt)
  if (unproved.length === 0 && core.fillsReadAt >= stop.provingAt) return finish(core, true)
  if (core.now < readableAt || core.now - stop.askedAt < READ_AGAIN_MS) return
  stop.askedAt = core.now
  for (const { symbol } of unproved) core.effects.push({ kind: 'readPosition', symbol })
  // A position is compared when the fills are known past its moment.
  if (core.now < stop.provingAt + core.settings.execution.fillVisibilityMs) return
  core.effects.push({ kind: 'readFills', sinceAt: fillsSince(core) })
}

function finish(core: Core, clean: boolean): void {
  core.mode = 'stopped'
  const open = [...core.book.open.values()].flatMap((orders) => [...orders.values()])
  announce(core, clean ? 'info' : 'error', 'daemon.stopped', {
    clean,
    policy: core.stop?.policy,
    openOrders: open.length,
    unknownOrders: open.filter((order) => order.state === 'unknown' || order.state === 'sent').length,
  })
  core.effects.push({ kind: 'stopped', clean })
}

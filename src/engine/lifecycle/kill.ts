import { unreachable } from '../../lib/unreachable.ts'
import { openOrdersOf } from '../book/book.ts'
import { askForCancel } from '../state/open-cancels.ts'
import { announce, type Core, exchangeNow, record } from '../state/core.ts'
import { startResolution } from '../resolution/resolution.ts'
import { createKillPlan, type KillOrder, type KillPhase, type KillPlan } from './kill-plan.ts'
import { isBusy, isOnWire, startStop } from './stop.ts'

/** Readings in a row that must see the same, the first as late as the slowest fill (A2). */
const ROUNDS = 2
/** Beyond the horizon of what was in flight: cancel-alls of every instrument, one a second, and the readings. */
const PATIENCE_MS = 60_000

/**
 * The operator's kill: from this step on nothing that creates an order leaves, over any number of restarts,
 * and everything that rests is taken away until that is proved. Heard twice it changes nothing.
 */
export function startKill(core: Core, { reason, by }: KillOrder): void {
  if (core.book.killed !== undefined || core.mode === 'stopped') return
  record(core, { kind: 'kill', at: core.now, isOn: true, reason, by }, true)
  announce(core, 'error', 'trading.killed', { reason, by })
  beginKill(core)
}

/** Begins, or after a restart begins again, to take everything away. */
export function beginKill(core: Core): void {
  const { acceptanceWindowMs } = core.settings.execution
  core.kill = createKillPlan(core.now, acceptanceWindowMs + PATIENCE_MS)
  if (core.mode === 'stopping') core.kill.stopAskedAt = core.now
  core.stop = undefined
  if (core.mode !== 'starting') core.mode = 'killed'
  core.effects.push({ kind: 'killState', state: 'seen' })
  askForCancel(core)
}

/** A person releases the switch and says why. Before all is proved the release waits. */
export function releaseKill(core: Core, { reason, by }: KillOrder): void {
  const { kill } = core
  if (!kill) return
  if (core.mode !== 'killed' || kill.phase !== 'clean') {
    kill.release = { reason, by }
    return announce(core, 'warn', 'kill.releasePending', { reason, by, phase: kill.phase })
  }
  record(core, { kind: 'kill', at: core.now, isOn: false, reason, by }, true)
  announce(core, 'warn', 'kill.released', { reason, by })
  core.kill = undefined
  core.mode = 'running'
  // What was wanted before the kill is not placed by itself: each strategy looks first.
  core.wishesFrom = core.snapshots + 1
  core.effects.push({ kind: 'killState', state: 'released' })
}

/** An orderly stop waits for the proof, though not for ever: the kill stands in the journal. */
export function stopWhenKilled(core: Core): void {
  if (core.kill) core.kill.stopAskedAt ??= core.now
}

/** Moves a kill on as far as it can go; runs after every event. */
export function advanceKill(core: Core): void {
  const { kill } = core
  if (!kill || core.mode !== 'killed') return
  const next = nextPhase(core, kill)
  if (next !== kill.phase) enter(core, kill, next)
  if (kill.phase === 'clean' && kill.release) return releaseKill(core, kill.release)
  logIfLate(core, kill)
  if (kill.stopAskedAt === undefined) return
  const isOver = core.now - kill.stopAskedAt >= core.settings.execution.stopTimeoutMs
  if (kill.phase === 'clean' || isOver) startStop(core, 'leave', kill.stopAskedAt)
}

function nextPhase(core: Core, kill: KillPlan): KillPhase {
  switch (kill.phase) {
    case 'cutting':
      // Left by the cancel-all itself: `sendCut`.
      return 'cutting'
    case 'draining':
      return isOnWire(core) ? 'draining' : 'clearing'
    case 'clearing':
      return isBusy(core) || hasOpenOrders(core) ? 'clearing' : 'waiting'
    case 'waiting':
      return exchangeNow(core) < acceptableUntil(core) ? 'waiting' : 'confirming'
    case 'confirming':
      if (isBusy(core)) return 'confirming'
      return kill.hasFound || hasOpenOrders(core) ? 'clearing' : 'proving'
    case 'proving':
      return prove(core, kill)
    case 'clean':
      // What turns up later is taken away and proved anew: it has been called clean too early.
      return hasOpenOrders(core) ? 'clearing' : 'clean'
    default:
      return unreachable(kill.phase)
  }
}

function enter(core: Core, kill: KillPlan, phase: KillPhase): void {
  kill.phase = phase
  kill.hasFound = false
  kill.rounds = 0
  kill.seen = ''
  kill.roundAt = core.now
  announce(core, 'debug', 'kill.phase', { phase })
  if (phase === 'confirming') {
    for (const instrument of core.instruments.values())
      if (instrument.phase === 'idle') startResolution(core, instrument, 'command')
  }
  if (phase !== 'clean') return
  announce(core, 'warn', 'kill.clean', { reason: core.book.killed?.reason, ...holdings(core) })
  core.effects.push({ kind: 'killState', state: 'clean' })
}

/** Unix ms, exchange clock: no creating request that ever left is accepted after this (A1). */
function acceptableUntil(core: Core): number {
  let sentAt = 0
  for (const { lastSentAt } of core.book.orders.values()) sentAt = Math.max(sentAt, lastSentAt)
  return sentAt + core.settings.execution.acceptanceWindowMs
}

/** A quarantined order waits for an operator and holds nothing up. */
function hasOpenOrders(core: Core): boolean {
  return [...core.instruments.keys()].some((symbol) =>
    [...openOrdersOf(core.book, symbol)].some(({ state }) => state !== 'quarantined'),
  )
}

/** Fills and positions, as they are read on the grid, that see the same twice in a row. */
function prove(core: Core, kill: KillPlan): KillPhase {
  const isRead = [...core.instruments.values()].every(({ positionReadAt }) => positionReadAt >= kill.roundAt)
  if (!isRead || core.fillsReadAt < kill.roundAt) return 'proving'
  const seen = JSON.stringify([core.book.fillsThroughAt, [...core.book.account]])
  kill.rounds = seen === kill.seen ? kill.rounds + 1 : 1
  kill.seen = seen
  kill.roundAt = core.now
  return kill.rounds >= ROUNDS ? 'clean' : 'proving'
}

function holdings(core: Core): Record<string, unknown> {
  const held = [...core.book.account].filter(([, { longLots, shortLots }]) => longLots + shortLots > 0)
  return { positions: Object.fromEntries(held) }
}

function logIfLate(core: Core, kill: KillPlan): void {
  if (kill.phase === 'clean' || core.now < kill.patientUntil) return
  kill.patientUntil = core.now + PATIENCE_MS
  announce(core, 'error', 'kill.unproved', {
    phase: kill.phase,
    hint: 'look at the exchange: cancel by hand what rests there',
  })
}

import { type Order } from '../../domain/order.ts'
import { netLots } from '../../domain/position.ts'
import { announce, type Core, exchangeNow, record } from '../state/core.ts'
import { noteLateCancel } from '../state/open-cancels.ts'
import { cancelsAtStart, startResolution } from '../resolution/resolution.ts'
import { type InstrumentState } from '../state/instrument-state.ts'
import { fillsSince } from '../state/fills-since.ts'
import { haltQuarantined } from '../resolution/quarantine.ts'
import { beginKill } from './kill.ts'

/** The readings of a start are asked for again when they do not come, or prove nothing yet. */
const READ_AGAIN_MS = 500

/**
 * A life begins, on the rebuilt book and with the exchange's clock measured: the boot is recorded before
 * anything else, what was on the wire when the last life ended is unknown, and the account is read.
 */
export function startRun(core: Core): void {
  const { settings, book } = core
  core.startedAt = core.now
  record(
    core,
    {
      kind: 'boot',
      at: core.now,
      exchangeAt: exchangeNow(core),
      epoch: book.epoch + 1,
      version: settings.version,
      environment: settings.environment,
      positionMode: settings.positionMode,
      configHash: settings.configHash,
      strategies: [...settings.strategies.keys()],
    },
    true,
  )
  markInFlightUnknown(core)
  haltQuarantined(core)
  if (core.book.killed !== undefined) beginKill(core)
  for (const instrument of core.instruments.values()) {
    noteLateCancel(core, instrument, core.book.cancels.get(instrument.symbol))
    if (settings.hasRetreated) instrument.lateUntil = core.now + settings.execution.acceptanceWindowMs
  }
  announce(core, 'info', 'recovery.started', { epoch: book.epoch, ...countFound(core) })
  askForAccount(core)
}

function markInFlightUnknown(core: Core): void {
  const sent = openOrders(core).filter((order) => order.state === 'sent')
  if (sent.length === 0) return
  record(core, {
    kind: 'outcome',
    at: core.now,
    batchId: core.book.batchId,
    items: sent.map((order) => ({
      clientOid: order.terms.clientOid,
      outcome: 'unknown',
      code: 'RESTART',
      message: 'it was on the wire when the daemon ended',
    })),
  })
}

function openOrders(core: Core): readonly Order[] {
  return [...core.book.open.values()].flatMap((orders) => [...orders.values()])
}

function countFound(core: Core): Record<string, unknown> {
  const open = openOrders(core)
  return {
    openOrders: open.filter((order) => order.state === 'live').length,
    unknownOrders: open.filter((order) => order.state === 'unknown').length,
    waitingOrders: open.filter((order) => order.state === 'queued').length,
    strategyStates: core.book.strategyStates.size,
    positions: Object.fromEntries(
      [...core.book.account]
        .filter(([, holding]) => netLots(holding) !== 0)
        .map(([symbol, holding]) => [symbol, netLots(holding)]),
    ),
    ...(core.book.halts.size > 0 ? { halts: Object.fromEntries(core.book.halts) } : {}),
  }
}

function askForAccount(core: Core): void {
  const { readSince } = core.start
  core.fillsAskedAt = core.now
  core.effects.push({ kind: 'readFills', sinceAt: fillsSince(core) })
  for (const instrument of core.instruments.values()) {
    if (!isReadSince(instrument, readSince))
      core.effects.push({ kind: 'readPosition', symbol: instrument.symbol })
  }
}

/** `since`: Unix ms, our clock; 0 for ever in this life. */
function isReadSince({ positionReadAt }: InstrumentState, since: number): boolean {
  return positionReadAt > 0 && positionReadAt >= since
}

/** Moves a start on as far as readings allow; runs after every event. */
export function advanceStart(core: Core): void {
  if (core.mode !== 'starting' || core.book.epoch === 0 || core.fillsAskedAt === 0) return
  const { start } = core
  if (start.phase === 'resolving') return endResolving(core)
  if ([...core.instruments.values()].every((instrument) => isReadSince(instrument, start.readSince))) {
    // A kill waits for nothing: what it cancels and proves is more than a start would.
    if (core.kill) return run(core)
    return start.phase === 'checking' ? endChecking(core) : resolveInstruments(core)
  }
  if (core.now - core.fillsAskedAt >= READ_AGAIN_MS) askForAccount(core)
}

/** Unknown orders resolution their instruments by themselves; what rests is resolved here, where the policy says so. */
function resolveInstruments(core: Core): void {
  core.start.phase = 'resolving'
  for (const instrument of core.instruments.values()) {
    if (instrument.phase === 'idle' && needsResolution(core, instrument.symbol))
      startResolution(core, instrument, 'restart')
  }
  if ([...core.instruments.values()].every((instrument) => instrument.phase === 'idle')) run(core)
}

/** An instrument that is halted holds the others up no longer (ORD4). */
function isResolved({ instruments, book }: Core): boolean {
  return [...instruments.values()].every(
    (instrument) => instrument.phase === 'idle' || book.halts.has(instrument.symbol),
  )
}

/** One that was halted, and released meanwhile, is waited for after all. */
function endChecking(core: Core): void {
  if (isResolved(core)) return run(core)
  core.start.phase = 'resolving'
}

function endResolving(core: Core): void {
  if (!isResolved(core)) return
  core.start = { phase: 'checking', readSince: core.now }
  askForAccount(core)
}

function run(core: Core): void {
  core.mode = core.kill ? 'killed' : 'running'
  announce(core, 'info', `daemon.${core.mode}`, {
    epoch: core.book.epoch,
    onRestart: core.settings.onRestart,
    ...countFound(core),
  })
}

/** Where the last life had sent a cancel-all, recorded or not, what rests is not known, whatever the policy says. */
function needsResolution(core: Core, symbol: string): boolean {
  const { book, settings } = core
  return settings.hasRetreated === true || book.cancels.has(symbol) || cancelsAtStart(core, symbol)
}

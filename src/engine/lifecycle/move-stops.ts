import type { Answer } from '../../domain/answer.ts'
import type { KeptExitsWatch } from '../../domain/exits.ts'
import {
  HOLD_SIDES,
  type HoldSide,
  type KeptExits,
  type ListedExit,
  type ListedExits,
} from '../../domain/position.ts'
import { writeExitMove } from '../../execution/account-call.ts'
import { formatOnGrid } from '../../lib/grid.ts'
import { isSameData } from '../../lib/plain-data.ts'
import { exchangeStopTicks } from '../../risk/exit-machine.ts'
import { accountHoldingOf } from '../book/book.ts'
import type { EngineEvent } from '../event.ts'
import { announce, type Core, emit, record, recordBefore, specOf } from '../state/core.ts'
import { believedTicksOf, exitRulesOf, watchedExitsOf } from '../state/exits.ts'
import {
  forgetKeptExits,
  keptExitsOn,
  keptWatchOf,
  noteKeptExits,
  openStopMove,
  symbolOfMove,
} from '../state/kept-exits.ts'
import { closeAccountCall } from '../state/open-calls.ts'
import { tradingStateOf } from '../state/trading-mode.ts'

/*
 * Below a strategy's exits stands a stop at the exchange. Where trigger orders may be listed, it
 * follows at its distance:
 *
 *     set by an order ──list──► listed ──other level, recorded──► on the wire ──accepted──► listed
 *            ▲                     │  ▲                               │
 *            └──another order──────┘  └────────list───────────────────┘ not accepted
 *
 * The journal has the requested level before the call leaves, and afterwards the listed one.
 */

/** Pauses between two lists of an instrument, while something is expected and otherwise. */
const EXPECTED_MS = 1000
const USUAL_MS = 30_000
/** A stop that was set is listed by then, or reported missing. */
const MISSING_MS_MAX = 10_000
/** The second pause follows a move that was not accepted. */
const MOVE_MS = 5000
const REFUSED_MS = 30_000
/** A step smaller than this share of the distance to the strategy's own level is not made. */
const STEP_SHARE = 0.1
const CALL_MS_MAX = 5000

export function moveStops(core: Core): void {
  if (core.run.phase !== 'running') return
  for (const symbol of core.instruments.keys()) {
    const sides = HOLD_SIDES.filter((side) => keptExitsOn(core, symbol, side) !== undefined)
    if (sides.length === 0) forgetKeptExits(core, symbol)
    else if (!listWhenDue(core, symbol)) for (const side of sides) moveStop(core, symbol, side)
  }
}

/** @returns whether the list cannot be relied on now */
function listWhenDue(core: Core, symbol: string): boolean {
  const watch = keptWatchOf(core, symbol)
  if (watch.isListing || watch.move) return true
  const isKnown = watch.listedAt > 0 && watch.listedFor === describeKept(core, symbol)
  if (core.now - watch.askedAt < pauseOf(watch, isKnown)) return !isKnown
  noteKeptExits(core, symbol, { isListing: true, askedAt: core.now })
  emit(core, { kind: 'listExits', symbol })
  return true
}

function pauseOf({ failing, missingSince }: KeptExitsWatch, isKnown: boolean): number {
  if (failing === 'list') return USUAL_MS
  const isAwaited = missingSince !== undefined && failing !== 'missing'
  return isKnown && !isAwaited ? USUAL_MS : EXPECTED_MS
}

/**
 * The list is read again when this changes: another order, or a larger position, may have another
 * exit.
 */
function describeKept(core: Core, symbol: string): string {
  const { longLots, shortLots } = accountHoldingOf(core.book, symbol)
  const setters = HOLD_SIDES.map((side) => keptExitsOn(core, symbol, side)?.clientOid ?? '')
  return [longLots, shortLots, ...setters].join(' ')
}

type ExitsEvent = Extract<EngineEvent, { readonly kind: 'exitsListed' | 'exitsUnlisted' }>

export function hearOfExits(core: Core, event: ExitsEvent): void {
  if (event.kind === 'exitsListed') takeListedExits(core, event.listed)
  else noteUnlistedExits(core, event.symbol, event.problem)
}

function takeListedExits(core: Core, { symbol, ...listed }: ListedExits): void {
  const watch = core.keptExits?.get(symbol)
  if (!watch || !core.instruments.has(symbol)) return
  let isMissing = false
  for (const side of HOLD_SIDES) {
    const kept = keptExitsOn(core, symbol, side)
    if (!kept) continue
    isMissing ||= kept.stopLossTicks !== undefined && !listed[side].some(isStop)
    if (isSameData(kept.listed, listed[side])) continue
    recordListed(core, { symbol, holdSide: side, listed: listed[side] })
  }
  const missingSince = isMissing ? (watch.missingSince ?? core.now) : undefined
  const isLost = missingSince !== undefined && core.now - missingSince >= MISSING_MS_MAX
  if (isLost && watch.failing !== 'missing') announce(core, 'warn', 'exit.notListed', { symbol })
  noteKeptExits(core, symbol, {
    isListing: false,
    listedAt: core.now,
    listedFor: describeKept(core, symbol),
    missingSince,
    failing: isLost ? 'missing' : watch.failing === 'move' ? 'move' : undefined,
  })
}

/** The failure is logged once until a list comes again. */
function noteUnlistedExits(core: Core, symbol: string, reason: string): void {
  const watch = core.keptExits?.get(symbol)
  if (!watch) return
  if (watch.failing !== 'list') announce(core, 'warn', 'exit.notRead', { symbol, reason })
  noteKeptExits(core, symbol, { isListing: false, failing: 'list' })
}

function recordListed(core: Core, listed: ListedOnSide): void {
  record(core, { kind: 'exitsListed', at: core.now, ...listed })
}

interface ListedOnSide {
  readonly symbol: string
  readonly holdSide: HoldSide
  readonly listed: readonly ListedExit[]
}

function isStop({ kind }: ListedExit): boolean {
  return kind === 'stopLoss'
}

function moveStop(core: Core, symbol: string, side: HoldSide): void {
  const kept = keptExitsOn(core, symbol, side)
  const { move, moveNotBefore } = keptWatchOf(core, symbol)
  if (!kept?.listed || move || core.now < moveNotBefore) return
  const wanted = wantedLevel(core, { symbol, side, kept })
  if (!wanted) return
  const step = Math.max(1, wanted.marginTicks * STEP_SHARE)
  const stop = kept.listed.find(
    (listed) => isStop(listed) && Math.abs(listed.ticks - wanted.ticks) >= step,
  )
  if (!stop || !mayMove(core, symbol, kept.strategyId)) return
  sendMove(core, { symbol, side, kept, stop, ticks: wanted.ticks })
}

interface KeptSide {
  readonly symbol: string
  readonly side: HoldSide
  readonly kept: KeptExits
}

/** The stop is not moved while an exit is due, and never to where the price has been already. */
function wantedLevel(
  core: Core,
  { symbol, side, kept }: KeptSide,
): ReturnType<typeof exchangeStopTicks> {
  const rules = exitRulesOf(core, kept.strategyId)
  const trade = watchedExitsOf(core, kept.strategyId, symbol)?.[side]
  const prices = believedTicksOf(core, symbol)
  if (!rules || !trade || trade.due || !prices) return undefined
  const wanted = exchangeStopTicks(rules, side, trade)
  if (!wanted) return undefined
  const isOutside = side === 'long' ? wanted.ticks < prices.low : wanted.ticks > prices.high
  return isOutside ? wanted : undefined
}

function mayMove(core: Core, symbol: string, strategyId: string): boolean {
  const { mode } = tradingStateOf(core, symbol, strategyId)
  return mode === 'active' || mode === 'reducing'
}

function sendMove(
  core: Core,
  {
    symbol,
    side,
    kept,
    stop,
    ticks,
  }: KeptSide & { readonly stop: ListedExit; readonly ticks: number },
): void {
  const { strategyId, listed = [] } = kept
  const written = writeExitMove(stop, ticks, specOf(core, symbol))
  if (!written.ok) return noteRefusedMove(core, symbol, written.problem)
  const { endpoint, body } = written
  const move = { holdSide: side, strategyId, fromTicks: stop.ticks, ticks }
  const callId = openStopMove(core, symbol, move)
  const moved = listed.map((exit) => (exit === stop ? { ...exit, ticks } : exit))
  const call = recordBefore(
    core,
    { kind: 'exitsListed', at: core.now, symbol, holdSide: side, listed: moved },
    { callId, endpoint, body, validUntilAt: core.now + CALL_MS_MAX },
  )
  emit(core, { kind: 'sendCall', call })
}

export function isMoveHeldBack(core: Core, callId: number): boolean {
  const symbol = symbolOfMove(core, callId)
  const move = symbol === undefined ? undefined : keptWatchOf(core, symbol).move
  return symbol !== undefined && move !== undefined && !mayMove(core, symbol, move.strategyId)
}

/**
 * After the answer a new list says where the stop is.
 * @returns whether the call has moved a stop
 */
export function takeMoveAnswer(core: Core, callId: number, answer: Answer<unknown>): boolean {
  const symbol = symbolOfMove(core, callId)
  if (symbol === undefined) return false
  closeAccountCall(core, callId)
  answerMove(core, symbol, { callId, answer })
  return true
}

function answerMove(
  core: Core,
  symbol: string,
  { callId, answer }: { readonly callId: number; readonly answer: Answer<unknown> },
): void {
  const { move, failing } = keptWatchOf(core, symbol)
  if (move?.callId !== callId || !core.instruments.has(symbol)) return
  noteKeptExits(core, symbol, { move: undefined, listedAt: 0, askedAt: 0 })
  if (answer.kind !== 'accepted') {
    const said = `${answer.code} ${answer.message}`.trim()
    return noteRefusedMove(core, symbol, said)
  }
  noteKeptExits(core, symbol, {
    moveNotBefore: core.now + MOVE_MS,
    failing: failing === 'move' ? undefined : failing,
  })
  const { tick } = specOf(core, symbol)
  const [from, price] = [move.fromTicks, move.ticks].map((ticks) => formatOnGrid(tick, ticks))
  const { strategyId: strategy, holdSide } = move
  announce(core, 'info', 'exit.moved', { strategy, symbol, holdSide, from, price })
}

function noteRefusedMove(core: Core, symbol: string, reason: string): void {
  const { failing } = keptWatchOf(core, symbol)
  if (failing !== 'move') announce(core, 'warn', 'exit.notMoved', { symbol, reason })
  noteKeptExits(core, symbol, { moveNotBefore: core.now + REFUSED_MS, failing: 'move' })
}

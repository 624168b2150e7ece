import {
  type Answer,
  isUnanswered,
  type RefusedAnswer,
  type UnknownAnswer,
} from '../../domain/answer.ts'
import { mutable } from '../../lib/mutable.ts'
import type { EngineEvent, EventOf } from '../event.ts'
import {
  announce,
  type Core,
  type ExchangeOutage,
  type SilenceState,
  type SilentCalls,
} from './core.ts'
import { kindOf, type RefusableOrder } from './refusals.ts'

/** A shorter silence, or a single call, may be one bad connection. */
const OUTAGE_MS = 10_000
/**
 * Orders and cancel-alls are not sent on a schedule, so a failure is forgotten after so long
 * without one.
 */
const FORGOTTEN_MS = 120_000

/** An attempt without an answer costs a cancel-all and readings, so each waits twice as long. */
const PAUSE_MS = 2000
const PAUSE_MS_MAX = 60_000
/** Orders that reduce wait so long at most. */
const REDUCING_PAUSE_MS_MAX = 20_000

export const CANCELS = 'cancel-alls'
const ordersOf = (symbol: string): string => `orders ${symbol}`
const isOfOrders = (kind: string): boolean => kind.startsWith('orders ')

/** Called before the event is handled. */
export function hearAnswer(core: Core, event: EngineEvent): void {
  const { kind } = event
  if (kind === 'fillsRead') noteAnswered(core, 'fills')
  else if (kind === 'positionRead') noteAnswered(core, `position ${event.reading.symbol}`)
  else if (kind === 'positionUnreadable') noteAnswered(core, `position ${event.symbol}`)
  else if (kind === 'batchAnswered') noteBatch(core, event)
  else if (kind === 'cancelAnswered') noteAnswer(core, CANCELS, event.answer)
  else if (kind === 'readFailed' && isOfAccount(event.what)) {
    if (event.isRefused) noteAnswered(core, event.what)
    else noteUnanswered(core, event.what, { reason: event.reason, hasLeft: true })
  }
}

function isOfAccount(what: string): boolean {
  return what === 'fills' || what.startsWith('position ')
}

function noteBatch(core: Core, { batchId, answer }: EventOf<'batchAnswered'>): void {
  const batch = core.calls.batches.get(batchId)
  if (batch !== undefined) noteAnswer(core, ordersOf(batch.symbol), answer)
}

function noteAnswer(core: Core, kind: string, answer: Answer<unknown>): void {
  const hasLeft = answer.kind !== 'refused' || answer.class !== 'notSent'
  if (isUnanswered(answer)) noteUnanswered(core, kind, { reason: reasonOf(answer), hasLeft })
  else noteAnswered(core, kind)
}

function reasonOf(answer: RefusedAnswer | UnknownAnswer): string {
  const code = answer.code || (answer.kind === 'unknown' ? answer.cause : answer.class)
  return answer.message === '' ? code : `${code}: ${answer.message}`
}

function noteAnswered({ silence }: Core, kind: string): void {
  if (silence.calls.has(kind)) mutable(silence.calls).delete(kind)
}

function noteUnanswered(
  { silence, now }: Core,
  kind: string,
  last: Pick<SilentCalls, 'reason' | 'hasLeft'>,
): void {
  const { since = now, times = 0 } = silence.calls.get(kind) ?? {}
  mutable(silence.calls).set(kind, { since, lastAt: now, times: times + 1, ...last })
  const { outage } = silence
  if (outage) mutable(outage.calls).set(kind, (outage.calls.get(kind) ?? 0) + 1)
}

export function isSilent({ silence }: Core, kinds: readonly string[]): boolean {
  return silence.calls.size > 0 && kinds.some((kind) => silence.calls.has(kind))
}

/** The instrument's last orders had no answer, so the next ones wait; a flatten never does. */
export function waitsInSilence(core: Core, wish: RefusableOrder): boolean {
  const calls = core.silence.calls.get(ordersOf(wish.symbol))
  // A call that never left costs nothing, and is soon tried again.
  if (calls === undefined || calls.times < 2 || !calls.hasLeft) return false
  const kind = kindOf(core, wish)
  if (kind === 'flatten') return false
  return (
    core.now <
    calls.lastAt + pauseMs(calls, kind === 'opens' ? PAUSE_MS_MAX : REDUCING_PAUSE_MS_MAX)
  )
}

function pauseMs({ times }: SilentCalls, mostMs = PAUSE_MS_MAX): number {
  return times < 2 ? 0 : Math.min(mostMs, PAUSE_MS * 2 ** (times - 2))
}

export function listSilent(
  { silence: { calls } }: Core,
  now: number,
): readonly (readonly [string, SilentCalls])[] {
  return [...calls]
    .filter(([, { since, times }]) => times > 1 && now - since >= OUTAGE_MS)
    .toSorted(([, left], [, right]) => left.since - right.since)
}

export function followOutage(core: Core, event: EngineEvent): void {
  const { silence, now } = core
  if (event.kind === 'timePassed') forgetOld(core)
  if (silence.outage === undefined) {
    const silent = listSilent(core, now)
    if (silent.length > 0) beginOutage(core, silent)
    return
  }
  gather(core, silence.outage)
  if (!isAnySilent(silence) && silence.outage.unproved.size === 0) endOutage(core, silence.outage)
}

/** One lost batch alone is no silence: perhaps no other is wanted, whose answer could end it. */
function isAnySilent({ calls }: SilenceState): boolean {
  return [...calls].some(([kind, { times }]) => !isOfOrders(kind) || times > 1)
}

function forgetOld({ silence, now }: Core): void {
  for (const [kind, calls] of silence.calls) {
    const waitedMs = isOfOrders(kind) ? pauseMs(calls) : 0
    const isSentForReasons = isOfOrders(kind) || kind === CANCELS
    if (isSentForReasons && now - calls.lastAt - waitedMs >= FORGOTTEN_MS)
      mutable(silence.calls).delete(kind)
  }
}

function beginOutage(core: Core, silent: readonly (readonly [string, SilentCalls])[]): void {
  const { silence, now } = core
  const [[, { since, reason }] = ['', { since: now, reason: '' }]] = silent
  mutable(silence).outage = {
    since,
    calls: new Map([...silence.calls].map(([kind, { times }]) => [kind, times])),
    unknown: new Set(),
    found: new Map(),
    cancelled: 0,
    fills: 0,
    unproved: new Set(),
    proved: new Set(),
  }
  announce(core, 'warn', 'exchange.silent', {
    calls: silent.map(([kind]) => kind),
    sinceMs: now - since,
    reason,
    unknownOrders: countUnknown(core),
  })
}

function countUnknown({ book }: Core): number {
  const orders = [...book.open.values()].flatMap((ofSymbol) => [...ofSymbol.values()])
  return orders.filter(({ state }) => state === 'unknown').length
}

function gather(core: Core, outage: ExchangeOutage): void {
  const { book, effects, instruments } = core
  const state = mutable(outage)
  for (const orders of book.open.values())
    for (const { state: standing, terms } of orders.values())
      if (standing === 'unknown') state.unknown.add(terms.clientOid)
  for (const effect of effects) {
    if (effect.kind !== 'record') continue
    const { record } = effect
    if (record.kind === 'fills') state.fills += record.fills.length
    if (record.kind === 'cancelAnswered') state.cancelled += record.listed.length
    if (record.kind !== 'settle') continue
    for (const { clientOid } of record.orders) {
      const became = book.orders.get(clientOid)?.state ?? 'forgotten'
      if (outage.unknown.has(clientOid))
        state.found.set(became, (outage.found.get(became) ?? 0) + 1)
    }
  }
  for (const { symbol, resolution } of instruments.values()) {
    // A halted instrument waits for an operator, not for the exchange.
    const isUnproved = resolution !== undefined && Number.isFinite(resolution.patientUntil)
    if (isUnproved && isAnySilent(core.silence)) state.unproved.add(symbol)
    if (!isUnproved && outage.unproved.has(symbol)) {
      state.unproved.delete(symbol)
      state.proved.add(symbol)
    }
  }
}

function endOutage(
  core: Core,
  { since, calls, unknown, found, cancelled, fills, proved }: ExchangeOutage,
): void {
  mutable(core.silence).outage = undefined
  announce(core, 'info', 'exchange.answers', {
    afterMs: core.now - since,
    unanswered: Object.fromEntries(calls),
    unknownOrders: unknown.size,
    found: Object.fromEntries(found),
    cancelled,
    fills,
    proved: [...proved],
  })
}

import { writeAccountCall, writeExitMove, type WrittenCall } from '../../execution/account-call.ts'
import type { AccountCall } from '../../domain/account-call.ts'
import type { Answer, RefusedAnswer, UnknownAnswer } from '../../domain/answer.ts'
import type { DenialCode } from '../../domain/denial.ts'
import type { AccountCallIntent, ModifyTriggerIntent } from '../../domain/intent.ts'
import { HOLD_SIDES, type ListedExit } from '../../domain/position.ts'
import type { CallEndedRecord } from '../../domain/record.ts'
import { approveCall } from '../../risk/approve.ts'
import { pairKey } from '../book/book.ts'
import { announce, type Core, emit, record, recordBefore, specOf } from '../state/core.ts'
import { isProved } from '../state/instrument-state.ts'
import {
  closeAccountCall,
  forgetAccountCall,
  openAccountCall,
  repeatAccountCall,
} from '../state/open-calls.ts'
import { isTrading, tradingStateOf } from '../state/trading-mode.ts'

const CALL_TTL_MS = 60_000
/** The pause before a failed call is repeated. */
const CALL_REPEAT_MS = 1000

/**
 * A call that changes a trigger order, cancels margin orders or sets copy settings:
 *
 *     (decided) ──► waiting ──approved, recorded──► on the wire ──accepted, rejected──► ended
 *                      ▲  └──its time is over──► expired       │
 *                      └────────429, no answer, not sent───────┘
 *
 * A call that is made twice does no harm, so after an unknown outcome it is repeated, after a restart
 * too.
 */
export type CallTaken =
  | { readonly ok: true; readonly call: AccountCall }
  | { readonly ok: false; readonly code: DenialCode; readonly detail: string }

export function takeAccountCall(
  core: Core,
  strategyId: string,
  intent: AccountCallIntent,
): CallTaken {
  const { key, symbol } = intent
  if (key === '' || key.includes('|')) {
    return { ok: false, code: 'KEY_MISSING', detail: 'an empty key, or one with a bar' }
  }
  if (core.book.callKeys.has(pairKey(strategyId, key)))
    return { ok: false, code: 'KEY_REUSED', detail: key }
  const written = writeCall(core, intent)
  if (!written.ok) return { ok: false, code: 'INTENT_MALFORMED', detail: written.problem }
  const { endpoint, body } = written
  return {
    ok: true,
    call: { strategyId, key, symbol, endpoint, body, deadlineAt: core.now + CALL_TTL_MS },
  }
}

/** An exit that the exchange keeps for a position has an endpoint of its own. */
function writeCall(core: Core, intent: AccountCallIntent): WrittenCall {
  const exit = intent.kind === 'modifyTrigger' ? listedExitOf(core, intent) : undefined
  if (intent.kind !== 'modifyTrigger' || !exit)
    return writeAccountCall(intent, specOf(core, intent.symbol))
  const { triggerTicks, takeProfitTicks, stopLossTicks } = intent
  if (triggerTicks === undefined || takeProfitTicks !== undefined || stopLossTicks !== undefined)
    return { ok: false, problem: 'an exit of a position takes triggerTicks and nothing else' }
  return writeExitMove(exit, triggerTicks, specOf(core, intent.symbol))
}

function listedExitOf(
  { book }: Core,
  { symbol, orderId }: ModifyTriggerIntent,
): ListedExit | undefined {
  const listed = HOLD_SIDES.flatMap((side) => book.exits.get(pairKey(symbol, side))?.listed ?? [])
  return listed.find((exit) => exit.orderId === orderId)
}

export function makeAccountCalls(core: Core): void {
  if (!isTrading(core)) return
  const onWire = new Set(core.calls.accountCalls.values())
  for (const [pair, call] of core.book.calls) {
    if (onWire.has(pair) || core.now < (core.calls.accountCallsNotBefore.get(pair) ?? 0)) continue
    if (core.now > call.deadlineAt)
      endCall(core, call, { outcome: 'expired', reason: 'not done within its time' })
    else if (!isUnproved(core, call.symbol)) sendCall(core, pair, call)
  }
}

/** An instrument that is not configured any more is not awaited. */
function isUnproved({ instruments }: Core, symbol: string): boolean {
  const instrument = instruments.get(symbol)
  return instrument !== undefined && !isProved(instrument)
}

function sendCall(core: Core, pair: string, call: AccountCall): void {
  const approved = approveCall(call, tradingStateOf(core, call.symbol, call.strategyId))
  if (!approved) return
  const callId = openAccountCall(core, pair)
  const { strategyId, key, endpoint, body, deadlineAt } = approved
  const outgoing = recordBefore(
    core,
    { kind: 'call', at: core.now, strategyId, key },
    { callId, endpoint, body, validUntilAt: deadlineAt },
  )
  announce(core, 'info', 'call.sent', { strategy: strategyId, key, endpoint })
  emit(core, { kind: 'sendCall', call: outgoing })
}

export function isCallHeldBack(core: Core, callId: number): boolean {
  const call = core.book.calls.get(core.calls.accountCalls.get(callId) ?? '')
  return (
    call !== undefined && !approveCall(call, tradingStateOf(core, call.symbol, call.strategyId))
  )
}

export function answerCall(core: Core, callId: number, answer: Answer<unknown>): void {
  const pair = closeAccountCall(core, callId)
  const call = pair === undefined ? undefined : core.book.calls.get(pair)
  if (pair === undefined || !call) return
  if (answer.kind === 'accepted') return endCall(core, call, { outcome: 'accepted', reason: '' })
  const reason = reasonOf(answer)
  const isFinal =
    answer.kind === 'refused' && answer.class !== 'retry' && answer.class !== 'notSent'
  if (isFinal) return endCall(core, call, { outcome: 'rejected', reason })
  repeatAccountCall(core, pair, core.now + CALL_REPEAT_MS)
  announce(core, 'warn', 'call.repeated', { strategy: call.strategyId, key: call.key, reason })
}

function reasonOf(answer: RefusedAnswer | UnknownAnswer): string {
  const said = `${answer.code} ${answer.message}`.trim()
  return said === '' && answer.kind === 'unknown' ? answer.cause : said
}

export function withdrawCalls(core: Core, strategyId: string): void {
  const onWire = new Set(core.calls.accountCalls.values())
  for (const [pair, call] of core.book.calls) {
    if (call.strategyId !== strategyId || onWire.has(pair)) continue
    endCall(core, call, { outcome: 'expired', reason: 'its strategy failed too often' })
  }
}

type CallEnd = Pick<CallEndedRecord, 'outcome' | 'reason'>

function endCall(core: Core, { strategyId, key }: AccountCall, end: CallEnd): void {
  forgetAccountCall(core, pairKey(strategyId, key))
  record(core, { kind: 'callEnded', at: core.now, strategyId, key, ...end })
  const level = end.outcome === 'accepted' ? 'info' : 'warn'
  announce(core, level, `call.${end.outcome}`, { strategy: strategyId, key, reason: end.reason })
}

import { type Answer, clockAheadAfter, hearOfClock } from '../../domain/answer.ts'
import type { StrategyId, StrategyAndKey } from '../../domain/ids.ts'
import { mutable } from '../../lib/mutable.ts'
import type { GrantPriority } from '../effect.ts'
import type { GrantedEndpoint } from '../event.ts'
import { type Core, emit, type OpenBatch, type OpenCancel } from './core.ts'
import { exchangeNow } from './market-state.ts'

export function askForGrant(core: Core, endpoint: GrantedEndpoint, priority: GrantPriority): void {
  const { asked } = mutable(core.calls)
  if (asked.has(endpoint)) return
  asked.add(endpoint)
  emit(core, { kind: 'askGrant', endpoint, priority })
}

export function askForCancel(core: Core): void {
  askForGrant(core, 'cancelAllOrders', 'reduce')
}

export function noteGranted({ calls }: Core, endpoint: GrantedEndpoint): void {
  mutable(calls).asked.delete(endpoint)
}

export function openBatch({ calls }: Core, batchId: number, batch: OpenBatch): void {
  mutable(calls).batches.set(batchId, batch)
}

/** @returns undefined if it was answered before */
export function closeBatch({ calls }: Core, batchId: number): OpenBatch | undefined {
  const { batches } = mutable(calls)
  const batch = batches.get(batchId)
  batches.delete(batchId)
  return batch
}

/** @returns the number of the cancel-all */
export function openCancel(
  core: Core,
  scope: Pick<OpenCancel, 'symbols' | 'takesProduct'>,
): number {
  const calls = mutable(core.calls)
  const clockAheadMs = clockAheadAfter(calls.clockRefusals)
  const requestAt = clockAheadMs === undefined ? exchangeNow(core) : core.now + clockAheadMs
  calls.cancelId += 1
  calls.cancels.set(calls.cancelId, { ...scope, resolves: [], requestAt, clockAheadMs })
  return calls.cancelId
}

/** The next cancel-all uses the time that a refusal states. */
export function noteCancelClock({ calls }: Core, answer: Answer<unknown>): void {
  const refusals = hearOfClock(calls.clockRefusals, answer)
  if (refusals !== calls.clockRefusals) mutable(calls).clockRefusals = refusals
}

export function noteResolves(
  { calls }: Core,
  cancelId: number,
  symbols: readonly string[],
): OpenCancel {
  const { cancels } = mutable(calls)
  const cancel = cancels.get(cancelId)
  if (!cancel) throw new Error(`no cancel-all ${cancelId} is on the wire`)
  const resolving = { ...cancel, resolves: symbols }
  cancels.set(cancelId, resolving)
  return resolving
}

/** @returns undefined if it was answered before */
export function closeCancel({ calls }: Core, cancelId: number): OpenCancel | undefined {
  const { cancels } = mutable(calls)
  const cancel = cancels.get(cancelId)
  cancels.delete(cancelId)
  return cancel
}

export function noteCancelFound({ calls }: Core): void {
  mutable(calls).cancelsThatFound += 1
}

export function isUnderCancel({ calls }: Core, symbol: string): boolean {
  for (const { symbols } of calls.cancels.values()) if (symbols.includes(symbol)) return true
  return false
}

/** @returns the number of the call */
export function openAccountCall({ calls }: Core, pair: StrategyAndKey): number {
  const state = mutable(calls)
  state.accountCallId += 1
  state.accountCalls.set(state.accountCallId, pair)
  return state.accountCallId
}

export function closeAccountCall({ calls }: Core, callId: number): StrategyAndKey | undefined {
  const { accountCalls } = mutable(calls)
  const pair = accountCalls.get(callId)
  accountCalls.delete(callId)
  return pair
}

export function repeatAccountCall({ calls }: Core, pair: StrategyAndKey, notBefore: number): void {
  mutable(calls).accountCallsNotBefore.set(pair, notBefore)
}

export function forgetAccountCall({ calls }: Core, pair: StrategyAndKey): void {
  mutable(calls).accountCallsNotBefore.delete(pair)
}

export function isAnythingOpen({ calls }: Core): boolean {
  return calls.batches.size > 0 || calls.cancels.size > 0 || calls.accountCalls.size > 0
}

/** Cancel-alls that name only left out instruments do not count. */
export function isAnythingOpenBeside(core: Core, isLeftOut: (symbol: string) => boolean): boolean {
  const { batches, cancels, accountCalls } = core.calls
  if (batches.size > 0 || accountCalls.size > 0) return true
  return [...cancels.values()].some(({ symbols }) => !symbols.every(isLeftOut))
}

export const MINUTE_MS = 60_000

/** Older times are forgotten (BND1). */
export function notePace(core: Core, orders: readonly { readonly strategyId: StrategyId }[]): void {
  if (!isLimited(core)) return
  const { sentAt } = mutable(core.calls)
  for (const { strategyId } of orders) {
    sentAt.set(strategyId, [...withinMinute(sentAt.get(strategyId), core), core.now])
  }
}

function isLimited({ settings }: Core): boolean {
  if (settings.limits.ordersPerMinute !== undefined) return true
  return [...settings.strategies.values()].some(({ limits }) =>
    [...limits.values()].some(({ ordersPerMinute }) => ordersPerMinute !== undefined),
  )
}

export function countSent(core: Core, strategyId?: StrategyId): number {
  const { sentAt } = core.calls
  const ids = strategyId === undefined ? [...sentAt.keys()] : [strategyId]
  return ids.reduce((sum, id) => sum + withinMinute(sentAt.get(id), core).length, 0)
}

export function withinMinute(times: readonly number[] = [], { now }: Core): readonly number[] {
  return times.filter((at) => at > now - MINUTE_MS)
}

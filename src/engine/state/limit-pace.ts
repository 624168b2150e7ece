import type { Objection } from '../../domain/denial.ts'
import type { OrderIntent } from '../../domain/intent.ts'
import type { ItemOutcome } from '../../domain/record.ts'
import { ACCOUNT, strategyScope } from '../../domain/trading-mode.ts'
import { mutable } from '../../lib/mutable.ts'
import { reducesRisk } from '../../risk/checks.ts'
import { buildExposure } from '../../risk/exposure.ts'
import { holdingOf, openOrdersOf, restrictionOf } from '../book/book.ts'
import type { EngineEvent } from '../event.ts'
import type { StrategySettings } from '../settings.ts'
import { beginMoment } from './changes.ts'
import { ordersOf } from './totals.ts'
import { announce, type Core } from './core.ts'
import { MINUTE_MS, withinMinute } from './open-calls.ts'
import { noteBeyond, type PaceReason } from './run-state.ts'
import { halt } from './trading-mode.ts'

const RATE_LIMITED = 'rateLimited'

/** Objects to equal orders that come too often within a minute, and counts the others. */
export function objectToRepeat(
  core: Core,
  { id, limits }: StrategySettings,
  place: OrderIntent,
): Objection | undefined {
  const { symbol, action, lots, ticks, force, takeProfitTicks, stopLossTicks } = place
  const terms = [symbol, action, lots, ticks, force, takeProfitTicks, stopLossTicks].join('|')
  const counted = [
    {
      whose: 'of the strategy',
      kind: `place|${id}|${terms}`,
      max: limits.get(symbol)?.identicalPerMinute,
    },
    {
      whose: 'of the account',
      kind: `place||${terms}`,
      max: core.settings.limits.identicalPerMinute,
    },
  ].flatMap(({ max, ...rest }) => (max === undefined ? [] : [{ ...rest, max }]))
  const reached = counted.find(({ kind, max }) => timesOf(core, kind).length >= max)
  if (reached && !reduces(core, id, place)) {
    return {
      code: 'IDENTICAL_PACE',
      detail: `${reached.max} ${reached.whose}, limit ${reached.max}`,
    }
  }
  for (const { kind, max } of counted) count(core, kind, max)
  return undefined
}

function reduces(core: Core, id: StrategySettings['id'], place: OrderIntent): boolean {
  const holding = holdingOf(core.book, id, place.symbol)
  const orders = ordersOf(core, id, place.symbol)
  return reducesRisk(place, {
    holding,
    ownExposure: buildExposure(core.settings.positionMode, holding, orders),
  })
}

export function judgeRejection(core: Core, { clientOid, outcome, code }: ItemOutcome): void {
  const terms = outcome === 'rejected' ? core.book.orders.get(clientOid)?.terms : undefined
  const strategy = [...core.settings.strategies.values()].find(({ id }) => id === terms?.strategyId)
  const max = terms && strategy?.limits.get(terms.symbol)?.rejectionsPerMinute
  if (!strategy || max === undefined || code === undefined) return
  const scope = strategyScope(strategy.id)
  const kind = `rejected|${strategy.id}|${code}`
  if (restrictionOf(core.book, scope, 'rejections') || count(core, kind, max) < max) return
  // After a release counting begins again.
  mutable(core.lastMinute).delete(kind)
  const reason = `${max} orders rejected within a minute with code ${code}, limit ${max}`
  announce(core, 'error', 'limits.reached', { scope, code: 'rejections', reason })
  halt(core, scope, 'rejections', reason)
}

export function judgePace(core: Core, event: EngineEvent): void {
  const { rateLimitedPerMinute, unknownOrdersMax } = core.settings.limits
  if (rateLimitedPerMinute !== undefined) {
    if (isRateLimited(event)) count(core, RATE_LIMITED, rateLimitedPerMinute)
    const answers = timesOf(core, RATE_LIMITED).length
    const reason = `${answers} answers 429 within a minute, limit ${rateLimitedPerMinute}`
    holdWhile(core, 'rateLimited', { isBeyond: answers >= rateLimitedPerMinute, reason })
  }
  if (unknownOrdersMax !== undefined) {
    const unknown = countUnknown(core)
    const reason = `${unknown} orders are unknown, limit ${unknownOrdersMax}`
    holdWhile(core, 'unknownOrders', { isBeyond: unknown > unknownOrdersMax, reason })
  }
}

function isRateLimited(event: EngineEvent): boolean {
  if (event.kind === 'readFailed') return event.status === 429
  return 'answer' in event && event.answer.kind !== 'accepted' && event.answer.status === 429
}

function countUnknown({ book, instruments }: Core): number {
  let unknown = 0
  for (const symbol of instruments.keys()) {
    for (const { state } of openOrdersOf(book, symbol)) if (state === 'unknown') unknown++
  }
  return unknown
}

function holdWhile(
  core: Core,
  code: PaceReason,
  { isBeyond, reason }: { readonly isBeyond: boolean; readonly reason: string },
): void {
  if (core.run.beyondLimit.has(code) === isBeyond) return
  noteBeyond(core.run, code, isBeyond ? { reason, since: core.now } : undefined)
  beginMoment(core.changes)
  if (isBeyond) announce(core, 'error', 'limits.reached', { scope: ACCOUNT, code, reason })
  else announce(core, 'warn', 'limits.ended', { scope: ACCOUNT, code, reason })
}

/** @returns how often the kind came within a minute, at most `max`; older kinds are forgotten (BND1) */
function count(core: Core, kind: string, max: number): number {
  const kinds = mutable(core.lastMinute)
  const times = [...timesOf(core, kind), core.now].slice(-max)
  // The map is in the order in which kinds were last counted.
  kinds.delete(kind)
  kinds.set(kind, times)
  for (const [oldest, seen] of kinds) {
    if ((seen.at(-1) ?? 0) > core.now - MINUTE_MS) break
    kinds.delete(oldest)
  }
  return times.length
}

function timesOf(core: Core, kind: string): readonly number[] {
  return withinMinute(core.lastMinute.get(kind), core)
}

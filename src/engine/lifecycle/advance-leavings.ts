import type { StrategyId } from '../../domain/ids.ts'
import type { UniverseLeaving } from '../../domain/universe.ts'
import {
  holdingOf,
  openOrdersOf,
  placesOf,
  restrictionsOn,
  splitPair,
  hasUnownedFills,
  leavingOf,
} from '../book/book.ts'
import { hasUnreadableRows } from '../resolution/unreadable.ts'
import { followRoster } from '../state/candles.ts'
import { forgetInstrument } from '../state/changes.ts'
import { ordersOf } from '../state/totals.ts'
import { announce, type Core, instrumentOf, record, specOf } from '../state/core.ts'
import { forgetHolds } from '../state/decision-state.ts'
import { forgetDenials } from '../state/denials.ts'
import { forgetExitPrice, leaveExits, watchedExitsOf } from '../state/exits.ts'
import { dropKeptExits } from '../state/kept-exits.ts'
import { isProved, removeInstrument } from '../state/instrument-state.ts'
import { forgetHours } from '../state/liquidations.ts'
import { forgetWorths } from '../state/losses.ts'
import { forgetFunding } from '../state/unseen-funding.ts'
import { forgetMark } from '../state/market-state.ts'
import { dismissMember, isReadFor } from '../state/roster.ts'
import { forgetWishesOn } from '../state/run-state.ts'
import { isSilent } from '../state/silence.ts'
import { isTrading } from '../state/trading-mode.ts'

export function advanceLeavings(core: Core): void {
  if (!isTrading(core)) return
  for (const [pair, leaving] of Array.from(core.book.leavings)) {
    const [strategyId, symbol] = splitPair(pair)
    const member = { strategyId: strategyId as StrategyId, symbol }
    if (whyNotGone(core, member) === undefined) depart(core, member, leaving)
  }
}

interface LeavingMember {
  readonly strategyId: StrategyId
  readonly symbol: string
}

export function whyNotGone(core: Core, { strategyId, symbol }: LeavingMember): string | undefined {
  const { book, settings } = core
  const policy = leavingOf(book, strategyId, symbol)?.policy
  if (!core.instruments.has(symbol)) return undefined
  const { longLots, shortLots } = holdingOf(book, strategyId, symbol)
  if (ordersOf(core, strategyId, symbol).length > 0) return 'orders are open'
  for (const _place of placesOf(book, strategyId, symbol)) return 'orders wait to be sent'
  if (policy !== 'handBack' && Math.max(longLots, shortLots) >= specOf(core, symbol).lotsMin)
    return 'a position is held'
  return isReadFor(settings, strategyId, symbol) ? whyNotQuiet(core, symbol) : undefined
}

/** Nothing may be open or unknown on an instrument that is read no more. */
function whyNotQuiet(core: Core, symbol: string): string | undefined {
  const { book, disputes, readings } = core
  const { phase, position, lateCancelUntil } = instrumentOf(core, symbol)
  for (const _order of openOrdersOf(book, symbol)) return 'orders are open'
  if (!isProved(instrumentOf(core, symbol)) || phase !== 'idle' || book.cancels.has(symbol))
    return 'it has yet to be proved what became of orders'
  if (core.now < lateCancelUntil) return 'a cancel-all may still arrive'
  if (hasUnownedFills(book, symbol)) return 'fills wait for their order'
  const isAgreed = position.agreedAt >= position.movedAt && position.agreedAt > 0
  if (!isAgreed || position.mismatch || position.pending || disputes.reduced.has(symbol))
    return 'its position has yet to be confirmed'
  const reading = `position ${symbol}`
  if (
    hasUnreadableRows(core, symbol) ||
    readings.failures.has(reading) ||
    isSilent(core, [reading])
  )
    return 'its position cannot be read'
  if (restrictionsOn(book, symbol).some(({ scope }) => scope === symbol)) return 'it is restricted'
  if (core.silence.outage?.unproved.has(symbol)) return 'the exchange has yet to answer'
  return core.reductions.has(symbol) ? 'a part of it is closed' : undefined
}

function depart(core: Core, member: LeavingMember, { policy }: UniverseLeaving): void {
  const { strategyId, symbol } = member
  const holding = holdingOf(core.book, strategyId, symbol)
  const isHeld = holding.longLots + holding.shortLots > 0
  const state = watchedExitsOf(core, strategyId, symbol)
  record(core, { kind: 'departed', at: core.now, ...member, holding })
  leaveExits(core, { id: strategyId, symbol, state })
  if (dismissMember(core.settings, member)) forget(core, symbol)
  followRoster(core)
  announce(core, isHeld ? 'warn' : 'info', isHeld ? 'universe.handedBack' : 'universe.left', {
    strategy: strategyId,
    symbol,
    policy,
    ...(isHeld && holding),
  })
}

function forget(core: Core, symbol: string): void {
  forgetHours(core, symbol)
  forgetExitPrice(core, symbol)
  forgetWorths(core, symbol)
  forgetFunding(core, symbol)
  forgetMark(core, symbol)
  forgetDenials(core, symbol)
  forgetHolds(core, symbol)
  dropKeptExits(core, symbol)
  forgetWishesOn(core.run, symbol)
  removeInstrument(core, symbol)
  forgetInstrument(core, symbol)
}

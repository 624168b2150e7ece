import { isClosing, tradesAs } from '../../domain/order-action.ts'
import type { Candidate } from '../../execution/candidate.ts'
import { nearestStep } from '../../lib/grid.ts'
import { stopTicks } from '../../risk/exit-levels.ts'
import { holdingOf } from '../book/book.ts'
import { type Core, specOf } from '../state/core.ts'
import { rulesOf } from '../state/exits.ts'
import { marketOf } from '../state/market-state.ts'

/** Where the strategy says so and the order names none itself. */
export function withStopAtExchange(core: Core, candidate: Candidate): Candidate {
  const { intent, again } = candidate
  const { strategyId, symbol, action, lots, ticks, force, stopLossTicks } = intent
  const share = rulesOf(core, strategyId)?.stopAtExchange
  const isPlain = again === undefined && !isClosing(action) && stopLossTicks === undefined
  if (share === undefined || !isPlain) return candidate
  const side = tradesAs(action) === 'buy' ? 'long' : 'short'
  const opposite = side === 'long' ? 'shortLots' : 'longLots'
  const isHedge = core.settings.positionMode === 'hedge_mode'
  if (!isHedge && lots <= holdingOf(core.book, strategyId, symbol)[opposite]) return candidate
  const { bid, ask } = marketOf(core, symbol)
  const touch = nearestStep(specOf(core, symbol).tick, side === 'long' ? ask : bid)
  // A resting order fills at its own price, any other near the best one.
  const from = ticks === undefined || force === 'ioc' || force === 'fok' ? touch : ticks
  const level = stopTicks(side, from, -share)
  return level > 0 ? { ...candidate, intent: { ...intent, stopLossTicks: level } } : candidate
}

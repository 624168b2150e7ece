import {
  counterpartiesOf,
  type Account,
  type CoreState,
  type IdempotencyEntry,
  type SymbolState,
} from './core-state.ts'
import { takenOf } from '../matching/displayed-market.ts'
import { type Fill } from './fill.ts'
import { type Order } from './order.ts'
import { type PlanOrder } from './plan-order.ts'
import { positionKey, type Position } from './position.ts'

/*
 * What is stored of each entity, under which id: one function an entity, called wherever it changes.
 * Decimals write themselves as strings. Reading back is restore.ts.
 */

export function putAccount(state: CoreState, account: Account): void {
  if (!state.changes.isEnabled) return
  const { uid } = account.setup
  state.changes.put('accounts', uid, () => ({
    uid,
    coins: Object.fromEntries(account.coins),
    counts: account.counts,
    choices: account.choices,
  }))
}

export function putCounterparties(state: CoreState, coin: string): void {
  if (state.changes.isEnabled)
    state.changes.put('counterparties', coin, () => ({ coin, ...counterpartiesOf(state, coin) }))
}

/** What orders took of the market, as of this quote; the quote itself comes back from the market. */
export function putSymbol(state: CoreState, symbol: SymbolState): void {
  if (!state.changes.isEnabled) return
  const { market, instrument, isSettled } = symbol
  state.changes.put('symbols', instrument.symbol, () => ({ isSettled, taken: takenOf(market) }))
}

export function putOrder(state: CoreState, order: Order): void {
  if (state.changes.isEnabled) state.changes.put('orders', String(order.sequence), () => order)
}

export function dropOrder(state: CoreState, order: Order): void {
  if (state.changes.isEnabled) state.changes.drop('orders', String(order.sequence))
}

export function putPlanOrder(state: CoreState, plan: PlanOrder): void {
  if (state.changes.isEnabled) state.changes.put('plan_orders', String(plan.sequence), () => plan)
}

export function dropPlanOrder(state: CoreState, plan: PlanOrder): void {
  if (state.changes.isEnabled) state.changes.drop('plan_orders', String(plan.sequence))
}

/** Puts the position, or drops it when nothing of it is left. */
export function putPosition(state: CoreState, position: Position): void {
  if (!state.changes.isEnabled) return
  const id = `${position.uid}/${positionKey(position.symbol, position.slot)}`
  if (position.lots === 0) state.changes.drop('positions', id)
  else state.changes.put('positions', id, () => position)
}

export function putFill(state: CoreState, fill: Fill): void {
  if (state.changes.isEnabled) state.changes.put('fills', String(fill.sequence), () => fill)
}

export function dropFill(state: CoreState, fill: Fill): void {
  if (state.changes.isEnabled) state.changes.drop('fills', String(fill.sequence))
}

export function putIdempotency(state: CoreState, account: Account, entry: IdempotencyEntry): void {
  if (!state.changes.isEnabled) return
  const { uid } = account.setup
  state.changes.put('idempotency', `${uid}/${entry.clientOid}`, () => ({ uid, ...entry }))
}

export function dropIdempotency(state: CoreState, account: Account, entry: IdempotencyEntry): void {
  if (state.changes.isEnabled) state.changes.drop('idempotency', `${account.setup.uid}/${entry.clientOid}`)
}

/** Clock, sequences and the next funding: part of every operation that changed anything. */
export function putClock(state: CoreState): void {
  if (state.changes.isEnabled) state.changes.put('meta', 'clock', () => state.clock)
}

import { Failure } from '../../lib/failure.ts'
import type { TakenLots } from '../matching/displayed-market.ts'
import { insertOrder, sideOf } from '../matching/order-book.ts'
import { singleRow, type Codec, type PlacedCodec, type StoredRows } from '../store/stored-rows.ts'
import {
  applyChoices,
  counterpartiesOf,
  type ExchangeAccount,
  type CoreClock,
  type CoreState,
  type IdempotencyEntry,
  type SymbolState,
} from './core-state.ts'
import type { FuturesFill } from './positions/fill.ts'
import {
  NO_COUNTERPARTIES,
  NO_MONEY,
  type CoinBalance,
  type FuturesCounterparties,
} from './accounts/ledger.ts'
import { isOpen } from '../matching/order-lifecycle.ts'
import type { FuturesOrder } from './orders/order.ts'
import { isPending, type PlanOrder } from './plans/plan-order.ts'
import { positionKey, type Position } from './positions/position.ts'

/** Code that changes an entity must call `state.rows.put(ORDERS, order)` or the like. */

export const CLOCK = singleRow<CoreClock>('clock')

interface StoredCounterparties {
  readonly coin: string
  readonly counterparties: FuturesCounterparties
}

export const COUNTERPARTIES: PlacedCodec<CoreState, StoredCounterparties> = {
  table: 'counterparties',
  id: ({ coin }) => coin,
  decimals: Object.keys(NO_COUNTERPARTIES),
  place: (state, { coin, counterparties }) =>
    Object.assign(counterpartiesOf(state, coin), counterparties),
}

interface AccountRow extends Pick<ExchangeAccount, 'counts' | 'choices'> {
  readonly uid: string
  readonly coins: Readonly<Record<string, CoinBalance>>
}

export const ACCOUNTS: PlacedCodec<CoreState, ExchangeAccount, AccountRow> = {
  table: 'accounts',
  id: ({ setup }) => setup.uid,
  write: ({ setup, coins, counts, choices }) => ({
    uid: setup.uid,
    coins: Object.fromEntries(coins),
    counts,
    choices,
  }),
  decimals: Object.keys(NO_MONEY),
  place(state, { uid, coins, counts, choices }) {
    const account = namedAccount(state, uid)
    for (const [coin, balance] of Object.entries(coins)) account.coins.set(coin, balance)
    Object.assign(account.counts, counts)
    applyChoices(account, choices)
  },
}

export interface SymbolRow {
  readonly symbol: string
  readonly isSettled: boolean
  readonly taken: TakenLots
}

export const SYMBOLS: Codec<SymbolState, SymbolRow> = {
  table: 'symbols',
  id: ({ instrument }) => instrument.symbol,
  write: ({ instrument, isSettled, market }) => ({
    symbol: instrument.symbol,
    isSettled,
    taken: market.taken,
  }),
}

export const ORDERS: PlacedCodec<CoreState, FuturesOrder> = {
  table: 'orders',
  id: ({ sequence }) => String(sequence),
  order: (order) => (isOpen(order) ? order.sequence : order.updatedAt),
  place(state, order) {
    const account = namedAccount(state, order.uid)
    if (!isOpen(order)) {
      if (state.symbols.has(order.symbol)) account.closedOrders.set(order.sequence, order)
      return
    }
    const symbol = listed(state, order)
    assertSlot(account, order)
    account.openOrders.set(order.sequence, order)
    if (order.status === 'pending') state.arrivals.push(order)
    else insertOrder(sideOf(symbol, order), order)
  },
}

export const PLAN_ORDERS: PlacedCodec<CoreState, PlanOrder> = {
  table: 'plan_orders',
  id: ({ sequence }) => String(sequence),
  place(state, plan) {
    if (isPending(plan)) listed(state, plan).planOrders.push(plan)
    if (state.symbols.has(plan.symbol))
      namedAccount(state, plan.uid).planOrders.set(plan.sequence, plan)
  },
}

export const POSITIONS: PlacedCodec<CoreState, Position> = {
  table: 'positions',
  id: ({ uid, symbol, slot }) => `${uid}/${positionKey(symbol, slot)}`,
  isGone: ({ lots }) => lots === 0,
  decimals: ['cost', 'margin', 'realised', 'fees', 'funding'],
  order: ({ sequence }) => sequence,
  place(state, position) {
    const account = namedAccount(state, position.uid)
    assertSlot(account, position)
    account.positions.set(positionKey(position.symbol, position.slot), position)
    listed(state, position).positions.push(position)
  },
}

export const FILLS: PlacedCodec<CoreState, FuturesFill> = {
  table: 'fills',
  id: ({ sequence }) => String(sequence),
  decimals: ['fee', 'profit'],
  place(state, fill) {
    if (state.symbols.has(fill.symbol)) namedAccount(state, fill.uid).fills.push(fill)
  },
}

export const IDEMPOTENCY: PlacedCodec<CoreState, IdempotencyEntry & { readonly uid: string }> = {
  table: 'idempotency',
  id: ({ uid, clientOid }) => `${uid}/${clientOid}`,
  order: ({ orderSequence }) => orderSequence,
  place: (state, entry) => namedAccount(state, entry.uid).idempotency.set(entry.clientOid, entry),
}

/**
 * Restores everything except the market (see replayQuotes).
 * @throws Failure SIMULATOR_ACCOUNT_MISSING, SIMULATOR_SYMBOL_MISSING,
 * SIMULATOR_POSITION_MODE_CHANGED
 */
export function restoreState(state: CoreState, rows: StoredRows): void {
  Object.assign(state.clock, rows.readOne(CLOCK, CLOCK.id()))
  rows.restore(COUNTERPARTIES, state)
  rows.restore(ACCOUNTS, state)
  rows.restore(ORDERS, state)
  rows.restore(PLAN_ORDERS, state)
  rows.restore(POSITIONS, state)
  rows.restore(FILLS, state)
  rows.restore(IDEMPOTENCY, state)
  state.arrivals.sort((a, b) => a.dueAt - b.dueAt || a.sequence - b.sequence)
}

function namedAccount(state: CoreState, uid: string): ExchangeAccount {
  const account = state.accounts.get(uid)
  if (account !== undefined) return account
  throw new Failure({
    code: 'SIMULATOR_ACCOUNT_MISSING',
    sentence: 'a stored account of the simulator is no longer configured',
    facts: { uid, configured: [...state.accounts.keys()].join(', ') },
    hint: 'configure the account again, or remove the stored state to start afresh',
  })
}

function listed(
  state: CoreState,
  entity: { readonly symbol: string; readonly uid: string },
): SymbolState {
  const symbol = state.symbols.get(entity.symbol)
  if (symbol !== undefined) return symbol
  throw new Failure({
    code: 'SIMULATOR_SYMBOL_MISSING',
    sentence: 'a stored position or open order is in an instrument that is no longer listed',
    facts: { symbol: entity.symbol, account: entity.uid },
    hint: 'list the instrument again (the same delivery date), or remove the stored state to start afresh',
  })
}

function assertSlot(
  { setup }: ExchangeAccount,
  entity: Pick<FuturesOrder, 'slot' | 'symbol'>,
): void {
  if ((entity.slot === 'net') === (setup.positionMode === 'one_way_mode')) return
  throw new Failure({
    code: 'SIMULATOR_POSITION_MODE_CHANGED',
    sentence: 'the position mode of an account was changed while it holds positions or open orders',
    facts: { account: setup.uid, symbol: entity.symbol, configured: setup.positionMode },
    hint: 'set positionMode as it was, or remove the stored state to start afresh',
  })
}

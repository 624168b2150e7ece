import { decimal } from '../../lib/decimal.ts'
import { Failure } from '../../lib/failure.ts'
import { type AccountChoices } from './account.ts'
import { applyChoices } from './account-choices.ts'
import { parseCheckpoint, type Checkpoint } from './checkpoint.ts'
import {
  counterpartiesOf,
  type Account,
  type CoreState,
  type IdempotencyEntry,
  type SymbolState,
} from './core-state.ts'
import { type Fill } from './fill.ts'
import { reviveCoinBalance, reviveCounterparties, type Counterparty } from './ledger.ts'
import { insertOrder } from '../matching/order-book.ts'
import { isOpen, type Order } from './order.ts'
import { type PlanOrder } from './plan-order.ts'
import { positionKey, type Position } from './position.ts'
import { type StoredRow, type StoredTable } from '../store/row-store.ts'
import { type StoredSymbol } from './timeline.ts'

/** Rows are written in this form; another one is not read. */
export const STORE_VERSION = 3

/** JSON has no decimals: they come back as strings. */
type Texts<Entity, Field extends keyof Entity> = Omit<Entity, Field> & Record<Field, string>

/** The core's stored rows by table, parsed. */
export type StoredTables = Readonly<Record<Exclude<StoredTable, 'services'>, ReadonlyMap<string, unknown>>>

/** @throws Failure SIMULATOR_STORE_DAMAGED, SIMULATOR_STORE_VERSION */
export function parseRows(rows: readonly StoredRow[]): StoredTables {
  const tables = {
    meta: new Map<string, unknown>(),
    counterparties: new Map<string, unknown>(),
    accounts: new Map<string, unknown>(),
    symbols: new Map<string, unknown>(),
    orders: new Map<string, unknown>(),
    plan_orders: new Map<string, unknown>(),
    positions: new Map<string, unknown>(),
    fills: new Map<string, unknown>(),
    idempotency: new Map<string, unknown>(),
  }
  for (const row of rows) {
    if (row.json !== undefined && row.table !== 'services') tables[row.table].set(row.id, parseJson(row))
  }
  const version = tables.meta.get('version')
  if (version === STORE_VERSION && tables.meta.has('clock') && tables.meta.has('market')) return tables
  throw new Failure({
    code: 'SIMULATOR_STORE_VERSION',
    sentence: 'the stored state of the simulator was written by another version of it',
    facts: { stored: String(version), read: STORE_VERSION },
    hint: 'remove the stored state to start afresh',
  })
}

export function storedCheckpoint(tables: StoredTables): Checkpoint {
  return parseCheckpoint(tables.meta.get('market'))
}

/** Puts the stored rows into a fresh state, all but the market; see replayQuotes. */
export function restoreState(state: CoreState, tables: StoredTables): void {
  Object.assign(state.clock, tables.meta.get('clock'))
  for (const [coin, row] of tables.counterparties) {
    Object.assign(counterpartiesOf(state, coin), reviveCounterparties(row as Record<Counterparty, string>))
  }
  for (const [uid, row] of tables.accounts) restoreAccount(namedAccount(state, uid), row)
  for (const row of sortedBy(tables.orders, orderPlace)) restoreOrder(state, row)
  for (const row of sortedBy(tables.plan_orders, (plan: PlanOrder) => plan.sequence)) restorePlan(state, row)
  for (const row of sortedBy(tables.positions, (position: StoredPosition) => position.sequence))
    restorePosition(state, row)
  for (const row of sortedBy(tables.fills, (fill: StoredFill) => fill.sequence)) restoreFill(state, row)
  for (const row of sortedBy(tables.idempotency, (entry: StoredEntry) => entry.orderSequence)) {
    const { uid, ...entry } = row
    namedAccount(state, uid).idempotency.set(entry.clientOid, entry)
  }
  state.arrivals.sort((a, b) => a.dueAt - b.dueAt || a.sequence - b.sequence)
}

/** What orders had taken of each market, and whether it was settled: put back by {@link replayQuotes}. */
export function storedTaken(tables: StoredTables): ReadonlyMap<string, StoredSymbol> {
  return tables.symbols as ReadonlyMap<string, StoredSymbol>
}

type StoredPosition = Texts<Position, 'cost' | 'margin' | 'realised' | 'fees'> & { readonly funding?: string }
type StoredFill = Texts<Fill, 'fee' | 'profit'>
type StoredEntry = IdempotencyEntry & { readonly uid: string }

function parseJson({ table, id, json }: StoredRow): unknown {
  try {
    return JSON.parse(json ?? 'null')
  } catch (cause) {
    throw new Failure({
      code: 'SIMULATOR_STORE_DAMAGED',
      sentence: 'a stored row of the simulator cannot be read',
      facts: { table, id },
      hint: 'remove the stored state to start afresh',
      cause,
    })
  }
}

/** Open orders stand in the order they came, done ones in the order they ended. */
function orderPlace(order: Order): number {
  return isOpen(order) ? order.sequence : order.updatedAt
}

function sortedBy<Row>(table: ReadonlyMap<string, unknown>, key: (row: Row) => number): Row[] {
  return ([...table.values()] as Row[]).sort((a, b) => key(a) - key(b))
}

function namedAccount(state: CoreState, uid: string): Account {
  const account = state.accounts.get(uid)
  if (account !== undefined) return account
  throw new Failure({
    code: 'SIMULATOR_ACCOUNT_MISSING',
    sentence: 'a stored account of the simulator is no longer configured',
    facts: { uid, configured: [...state.accounts.keys()].join(', ') },
    hint: 'configure the account again, or remove the stored state to start afresh',
  })
}

function restoreAccount(account: Account, row: unknown): void {
  const { coins, counts, choices } = row as {
    coins: Record<string, Parameters<typeof reviveCoinBalance>[0]>
    counts: object
    choices?: AccountChoices
  }
  for (const [coin, balance] of Object.entries(coins)) account.coins.set(coin, reviveCoinBalance(balance))
  Object.assign(account.counts, counts)
  if (choices !== undefined) applyChoices(account, choices)
}

/** The symbol of an open order or a position: without it they could neither be priced nor closed. */
function listed(state: CoreState, entity: { readonly symbol: string; readonly uid: string }): SymbolState {
  const symbol = state.symbols.get(entity.symbol)
  if (symbol !== undefined) return symbol
  throw new Failure({
    code: 'SIMULATOR_SYMBOL_MISSING',
    sentence: 'a stored position or open order is in an instrument that is no longer listed',
    facts: { symbol: entity.symbol, account: entity.uid },
    hint: 'list the instrument again (the same delivery date), or remove the stored state to start afresh',
  })
}

function restoreOrder(state: CoreState, order: Order): void {
  const account = namedAccount(state, order.uid)
  if (!isOpen(order)) {
    account.closedOrders.set(order.sequence, order)
    return
  }
  const symbol = listed(state, order)
  assertSlot(account, order)
  account.openOrders.set(order.sequence, order)
  if (order.status === 'pending') state.arrivals.push(order)
  else insertOrder(order.direction === 'buy' ? symbol.buys : symbol.sells, order)
}

function restorePlan(state: CoreState, plan: PlanOrder): void {
  namedAccount(state, plan.uid).planOrders.set(plan.sequence, plan)
  if (plan.status === 'pending') listed(state, plan).planOrders.push(plan)
}

function restorePosition(state: CoreState, row: StoredPosition): void {
  const account = namedAccount(state, row.uid)
  assertSlot(account, row)
  const position: Position = {
    ...row,
    cost: decimal(row.cost),
    margin: decimal(row.margin),
    realised: decimal(row.realised),
    fees: decimal(row.fees),
    funding: row.funding === undefined ? undefined : decimal(row.funding),
  }
  account.positions.set(positionKey(position.symbol, position.slot), position)
  listed(state, position).positions.push(position)
}

/** Fills of instruments that left the list are forgotten; their money is in the ledger. */
function restoreFill(state: CoreState, row: StoredFill): void {
  if (!state.symbols.has(row.symbol)) return
  namedAccount(state, row.uid).fills.push({ ...row, fee: decimal(row.fee), profit: decimal(row.profit) })
}

function assertSlot({ setup }: Account, entity: Pick<Order, 'slot' | 'symbol'>): void {
  if ((entity.slot === 'net') === (setup.positionMode === 'one_way_mode')) return
  throw new Failure({
    code: 'SIMULATOR_POSITION_MODE_CHANGED',
    sentence: 'the position mode of an account was changed while it holds positions or open orders',
    facts: { account: setup.uid, symbol: entity.symbol, configured: setup.positionMode },
    hint: 'set positionMode as it was, or remove the stored state to start afresh',
  })
}

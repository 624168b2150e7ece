import { insertOrder, sideOf } from '../matching/order-book.ts'
import { readRow } from '../read-row.ts'
import { isOpen, type LiquidationRecord, type MarginMode, type MarginOrder } from './margin-order.ts'
import { balanceKey, type Debtor, type MarginState } from './margin-state.ts'

/*
 * What is stored of each entity, under which id: one function an entity, called wherever it changes, and
 * how all of it comes back. Decimals write themselves as strings.
 */

const CLOCK = 'margin/clock'
const ORDERS = 'margin/order/'
const RECORDS = 'margin/record/'
const DEBTORS = 'margin/debtor/'

export function putClock(state: MarginState): void {
  put(state, CLOCK, { accruedAt: state.clock.accruedAt })
}

export function putOrder(state: MarginState, order: MarginOrder): void {
  put(state, `${ORDERS}${order.id}`, order)
}

export function dropOrder(state: MarginState, order: MarginOrder): void {
  drop(state, `${ORDERS}${order.id}`)
}

export function putRecord(state: MarginState, place: RecordPlace, record: LiquidationRecord): void {
  put(state, recordId(place, record), record)
}

export function dropRecord(state: MarginState, place: RecordPlace, record: LiquidationRecord): void {
  drop(state, recordId(place, record))
}

export function putDebtor(state: MarginState, debtor: Debtor): void {
  const id = DEBTORS + balanceKey(debtor)
  if (debtor.since.size === 0) drop(state, id)
  else put(state, id, { ...debtor, since: Object.fromEntries(debtor.since) })
}

/** Puts the stored rows into a fresh state. Rows of accounts and symbols that are gone are left aside. */
export function restoreMargin(state: MarginState): void {
  const { store } = state.ports
  for (const { json } of store.rows(CLOCK)) Object.assign(state.clock, JSON.parse(json))
  const orders = store.rows(ORDERS).map(({ json }) => readRow<MarginOrder>(json, ORDER_DECIMALS))
  for (const order of orders.filter(isOpen)) {
    const market = state.symbols.get(order.symbol)
    const account = state.accounts.get(order.uid)
    if (market === undefined || account === undefined) continue
    account.open.set(order.id, order)
    insertOrder(sideOf(market.book, order), order)
  }
  const ended = orders.filter((order) => !isOpen(order)).sort((a, b) => a.ending - b.ending)
  for (const order of ended) {
    const account = state.accounts.get(order.uid)
    if (account === undefined) continue
    account.ended.set(order.id, order)
    account.endings = order.ending
  }
  for (const { id, json } of store.rows(RECORDS)) {
    const [uid = '', mode] = id.slice(RECORDS.length).split('/')
    state.accounts.get(uid)?.records[mode as MarginMode].push(readRow(json, RECORD_DECIMALS))
  }
  for (const { json } of store.rows(DEBTORS)) {
    const row = JSON.parse(json) as Omit<Debtor, 'since'> & { since: Record<string, number> }
    if (!state.accounts.has(row.uid)) continue
    state.debtors.set(balanceKey(row), { ...row, since: new Map(Object.entries(row.since)) })
  }
}

interface RecordPlace {
  readonly uid: string
  readonly mode: MarginMode
}

function recordId({ uid, mode }: RecordPlace, { id }: LiquidationRecord): string {
  return `${RECORDS}${uid}/${mode}/${id}`
}

function put(state: MarginState, id: string, row: unknown): void {
  state.ports.store.put(id, JSON.stringify(row))
}

function drop(state: MarginState, id: string): void {
  state.ports.store.drop(id)
}

const ORDER_DECIMALS = ['price', 'base', 'quote', 'filledBase', 'filledQuote', 'frozen', 'loan']
const RECORD_DECIMALS = ['price', 'size', 'filledBase', 'filledQuote', 'fromSize', 'toSize']

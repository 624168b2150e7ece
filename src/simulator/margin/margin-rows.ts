import { insertOrder, sideOf } from '../matching/order-book.ts'
import { singleRow, type Codec, type PlacedCodec } from '../store/stored-rows.ts'
import { isOpen } from '../matching/order-lifecycle.ts'
import { type LiquidationRecord, type MarginOrder } from './orders/margin-order.ts'
import { balanceKey, type Debtor, type MarginState } from './margin-state.ts'

/*
 * How each entity of the margin service is stored, and where it belongs when it comes back. Rows of accounts and
 * symbols that are gone are left aside.
 */

/** The hour up to which interest has accrued. */
export const ACCRUAL: Codec<{ accruedAt: number }> & { readonly id: () => string } =
  singleRow('margin_accrual')

export const MARGIN_ORDERS: PlacedCodec<MarginState, MarginOrder> = {
  table: 'margin_orders',
  id: ({ id }) => id,
  decimals: ['price', 'size', 'filledBase', 'filledQuote', 'frozen', 'loan'],
  order: ({ ending }) => ending,
  place(state, order) {
    const market = state.symbols.get(order.symbol)
    const account = state.accounts.get(order.uid)
    if (account === undefined || market === undefined) return
    if (isOpen(order)) {
      account.open.set(order.id, order)
      insertOrder(sideOf(market.book, order), order)
      return
    }
    account.ended.set(order.id, order)
    account.endings = order.ending
  },
}

export const LIQUIDATION_RECORDS: PlacedCodec<MarginState, LiquidationRecord> = {
  table: 'margin_records',
  id: ({ id }) => id,
  decimals: ['price', 'size', 'filledBase', 'filledQuote', 'fromSize', 'toSize'],
  place: (state, record) => state.accounts.get(record.uid)?.records[record.mode].push(record),
}

type DebtorRow = Omit<Debtor, 'since'> & { readonly since: Readonly<Record<string, number>> }

export const DEBTORS: PlacedCodec<MarginState, Debtor, DebtorRow> = {
  table: 'debtors',
  id: balanceKey,
  isGone: ({ since }) => since.size === 0,
  write: (debtor) => ({ ...debtor, since: Object.fromEntries(debtor.since) }),
  place(state, row) {
    if (!state.accounts.has(row.uid)) return
    state.debtors.set(balanceKey(row), { ...row, since: new Map(Object.entries(row.since)) })
  },
}

/** Puts the stored rows into a fresh state. */
export function restoreMargin(state: MarginState): void {
  const { rows } = state.ports
  Object.assign(state.clock, rows.readOne(ACCRUAL, ACCRUAL.id()))
  rows.restore(MARGIN_ORDERS, state)
  rows.restore(LIQUIDATION_RECORDS, state)
  rows.restore(DEBTORS, state)
}

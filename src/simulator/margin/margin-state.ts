import { type Decimal } from '../../lib/decimal.ts'
import { PairMarket } from '../services/pair-market.ts'
import { PairOrders } from '../services/pair-order.ts'
import { type ServicePorts } from '../services/service-ports.ts'
import { Histories } from '../shared/histories.ts'
import { known } from '../shared/known.ts'
import { singleRow, type Codec, type PlacedCodec } from '../store/stored-rows.ts'
import { type CoinMoney, type CoinRef } from '../wallet/coin-money.ts'
import {
  balanceOf,
  type BalanceRef,
  type LiquidationRecord,
  type MarginOrder,
} from './orders/margin-order.ts'
import { type MarginSettings } from './margin-settings.ts'
import { MARGIN_SYMBOLS, type MarginSymbol } from './margin-symbols.ts'

/** Everything the margin service knows beside the wallet. Each function of this module takes it as its first argument. */
export interface MarginState {
  readonly settings: MarginSettings
  readonly ports: ServicePorts
  readonly clock: MarginClock
  /** By symbol; bounded by the list of margin symbols. */
  readonly symbols: ReadonlyMap<string, SymbolMarket>
  /** Of each account at most `ordersMax`; open ones at most `openOrdersMax` a mode, and the system's own. */
  readonly orders: PairOrders<MarginOrder>
  /** By {@link recordsKey}; at most `recordsMax` each. */
  readonly records: Histories<LiquidationRecord>
  /** Balances that owe something, by {@link balanceKey}. Bounded by accounts x balances. */
  readonly debtors: Map<string, Debtor>
}

/** Unix ms of the exchange's clock; 0 is never yet. */
export interface MarginClock {
  now: number
  /** The full hour up to which interest has accrued. */
  accruedAt: number
}

/** The market of a symbol, with the resting orders of both modes and all accounts. */
export interface SymbolMarket {
  readonly rules: MarginSymbol
  readonly book: PairMarket<MarginOrder>
}

export interface Debtor extends BalanceRef {
  /** By coin, when the balance last began to owe it: Unix ms. */
  readonly since: Map<string, number>
}

/** The hour up to which interest has accrued. */
export const ACCRUAL: Codec<{ accruedAt: number }> & { readonly id: () => string } =
  singleRow('margin_accrual')

type DebtorRow = Omit<Debtor, 'since'> & { readonly since: Readonly<Record<string, number>> }

export const DEBTORS: PlacedCodec<MarginState, Debtor, DebtorRow> = {
  table: 'debtors',
  id: balanceKey,
  isGone: ({ since }) => since.size === 0,
  write: (debtor) => ({ ...debtor, since: Object.fromEntries(debtor.since) }),
  place(state, row) {
    // Of an account that is gone nothing is owed here.
    if (!state.ports.accounts.some(({ uid }) => uid === row.uid)) return
    state.debtors.set(balanceKey(row), { ...row, since: new Map(Object.entries(row.since)) })
  },
}

const HOUR_MS = 3_600_000

/** The state as it was stored; empty at the very first start. */
export function openMarginState(ports: ServicePorts, settings: MarginSettings): MarginState {
  const { rows, startAt } = ports
  const symbols = new Map(
    MARGIN_SYMBOLS.map((rules) => [rules.symbol, { rules, book: new PairMarket<MarginOrder>(ports, rules) }]),
  )
  const books = new Map([...symbols].map(([symbol, { book }]) => [symbol, book]))
  const { ordersMax, recordsMax } = settings
  const state: MarginState = {
    ...{ settings, ports, symbols },
    clock: {
      ...{ now: startAt, accruedAt: startAt - (startAt % HOUR_MS) },
      ...rows.readOne(ACCRUAL, ACCRUAL.id()),
    },
    orders: new PairOrders(ports, books, { table: 'margin_orders', decimals: ['loan'], ordersMax }),
    records: new Histories(rows, {
      codec: {
        ...{ table: 'margin_records', id: ({ id }) => id },
        decimals: ['price', 'size', 'filledBase', 'filledQuote', 'fromSize', 'toSize'],
      },
      max: recordsMax,
      ownerOf: recordsKey,
    }),
    debtors: new Map(),
  }
  rows.restore(DEBTORS, state)
  return state
}

/** @throws Failure SIMULATOR_UNKNOWN: only for symbols that were checked before. */
export function marketOf({ symbols }: MarginState, symbol: string): SymbolMarket {
  return known(symbols, symbol, 'a margin pair')
}

/** The symbols that a balance trades: its own, or all of them. */
export function marketsOf(state: MarginState, { balance }: BalanceRef): SymbolMarket[] {
  return [...state.symbols.values()].filter(
    ({ rules }) => balance === 'crossed' || balance === `isolated:${rules.symbol}`,
  )
}

export function balanceKey({ uid, balance }: BalanceRef): string {
  return `${uid}/${balance}`
}

export function recordsKey({ uid, mode }: Pick<LiquidationRecord, 'uid' | 'mode'>): string {
  return `${uid}/${mode}`
}

export function coinIn(ref: BalanceRef, coin: string): CoinRef {
  return { uid: ref.uid, balance: ref.balance, coin }
}

export function moneyOf(state: MarginState, ref: BalanceRef, coin: string): CoinMoney {
  return state.ports.wallet.coin(coinIn(ref, coin))
}

/** What is owed of a coin: principal and interest. */
export function debtOf({ borrowed, interest }: CoinMoney): Decimal {
  return borrowed.plus(interest)
}

/** Open orders of the balance, oldest first. */
export function openOrdersOf({ orders }: MarginState, { uid, balance }: BalanceRef): MarginOrder[] {
  return orders.openOf(uid).filter(({ mode, symbol }) => balanceOf(mode, symbol) === balance)
}

/** Bid and ask in quote coin; undefined while nothing is displayed. */
export function pricesShown({
  book,
}: SymbolMarket): { readonly bid: Decimal; readonly ask: Decimal } | undefined {
  const { at, bidTicks, askTicks } = book.market
  return at === 0 ? undefined : { bid: book.price(bidTicks), ask: book.price(askTicks) }
}

/** Takes in what is displayed now: a quote that concerned nobody was not looked at. */
export function refreshBooks({ symbols }: MarginState): void {
  for (const { book } of symbols.values()) book.refresh()
}

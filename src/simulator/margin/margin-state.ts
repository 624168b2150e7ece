import { type Decimal } from '../../lib/decimal.ts'
import { type ServicePorts } from '../services/service-ports.ts'
import { PairMarket } from '../services/pair-market.ts'
import { type CoinMoney, type CoinRef } from '../wallet/coin-money.ts'
import {
  type LiquidationRecord,
  type MarginMode,
  type MarginOrder,
  type BalanceRef,
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
  /** By uid; bounded by the accounts of the exchange. */
  readonly accounts: ReadonlyMap<string, MarginAccount>
  /** Balances that owe something, by {@link balanceKey}. Bounded by accounts x balances. */
  readonly debtors: Map<string, Debtor>
  /** What the debtors have and owe, as of the wallet's revision; see balance-risk.ts. */
  readonly figures: { revision: number; readonly byDebtor: Map<Debtor, RiskFigures> }
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

export interface MarginAccount {
  readonly uid: string
  /** By id, oldest first. At most `openOrdersMax` a mode, and the system's own. */
  readonly open: Map<string, MarginOrder>
  /** By id, in the order they ended. At most `endedOrdersMax`. */
  readonly ended: Map<string, MarginOrder>
  /** How many ever ended. */
  endings: number
  /** Oldest first. At most `recordsMax` each. */
  readonly records: Readonly<Record<MarginMode, LiquidationRecord[]>>
}

export interface Debtor extends BalanceRef {
  /** By coin, when the balance last began to owe it: Unix ms. */
  readonly since: Map<string, number>
}

/** What a balance has and owes, as floats. */
export interface RiskFigures {
  /** Of the quote coin. */
  readonly held: number
  readonly owed: number
  /** What the equity must be above, as a share of the debts. */
  readonly least: number
  /** Of the base coins. */
  readonly coins: readonly {
    readonly book: SymbolMarket['book']
    readonly held: number
    readonly owed: number
  }[]
}

const HOUR_MS = 3_600_000

export function createMarginState(ports: ServicePorts, settings: MarginSettings): MarginState {
  return {
    settings,
    ports,
    clock: { now: ports.startAt, accruedAt: ports.startAt - (ports.startAt % HOUR_MS) },
    symbols: new Map(MARGIN_SYMBOLS.map((rules) => [rules.symbol, createMarket(ports, rules)])),
    accounts: new Map(ports.accounts.map(({ uid }) => [uid, createAccount(uid)])),
    debtors: new Map(),
    figures: { revision: -1, byDebtor: new Map() },
  }
}

/** @throws RangeError: callers of the service are accounts of the exchange. */
export function accountOf(state: MarginState, uid: string): MarginAccount {
  const account = state.accounts.get(uid)
  if (account === undefined) throw new RangeError(`the simulated exchange has no account ${uid}`)
  return account
}

/** @throws RangeError: only for symbols that were checked before. */
export function marketOf(state: MarginState, symbol: string): SymbolMarket {
  const market = state.symbols.get(symbol)
  if (market === undefined) throw new RangeError(`${symbol} is not traded on margin`)
  return market
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
export function openOrdersOf(state: MarginState, ref: BalanceRef): MarginOrder[] {
  const orders = [...accountOf(state, ref.uid).open.values()]
  return orders.filter(({ mode, symbol }) =>
    mode === 'crossed' ? ref.balance === 'crossed' : ref.balance === `isolated:${symbol}`,
  )
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

function createMarket(ports: ServicePorts, rules: MarginSymbol): SymbolMarket {
  const { symbol, pricePlaces: priceDecimals, quantityPlaces: sizeDecimals } = rules
  return { rules, book: new PairMarket(ports, { symbol, priceDecimals, sizeDecimals }) }
}

function createAccount(uid: string): MarginAccount {
  return { uid, open: new Map(), ended: new Map(), endings: 0, records: { isolated: [], crossed: [] } }
}

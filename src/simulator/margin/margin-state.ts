import { type Decimal, ZERO } from '../../lib/decimal.ts'
import { type ServicePorts, type DisplayedPrice } from '../account-service.ts'
import { type CoinMoney, type CoinRef } from '../wallet/coin-money.ts'
import { type LiquidationRecord, type MarginMode, type MarginOrder, type BalanceRef } from './margin-order.ts'
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
  /** Balances that the platform has taken over, by the same key. */
  readonly liquidations: Map<string, Liquidation>
  /** Something was stored in this call: the clock is stored with it. */
  isTouched: boolean
}

/** Unix ms of the exchange's clock; 0 is never yet. */
export interface MarginClock {
  now: number
  /** The full hour up to which interest has accrued. */
  accruedAt: number
  /** The seeded past is written. */
  isSeeded: boolean
}

/** The displayed market of a symbol, and what orders have taken of it. */
export interface SymbolMarket {
  readonly rules: MarginSymbol
  shown: { readonly bid: Decimal; readonly ask: Decimal; readonly texts: DisplayedPrice } | undefined
  /** When an order first took of this price; Unix ms, 0 while none has. */
  takenAt: number
  /** Base coin that orders took of the ask and of the bid. */
  taken: { readonly buy: Decimal; readonly sell: Decimal }
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

/** A liquidation that is not over: forced orders wait for the market, then the rest is settled. */
export interface Liquidation extends BalanceRef {
  readonly startedAt: number
  /** Quote coin that forced orders have traded: what the fee is taken of. */
  traded: Decimal
}

export function createMarginState(ports: ServicePorts, settings: MarginSettings): MarginState {
  return {
    settings,
    ports,
    clock: { now: ports.startAt, accruedAt: 0, isSeeded: false },
    symbols: new Map(MARGIN_SYMBOLS.map((rules) => [rules.symbol, createMarket(rules)])),
    accounts: new Map(ports.accounts.map(({ uid }) => [uid, createAccount(uid)])),
    debtors: new Map(),
    liquidations: new Map(),
    isTouched: false,
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

function createMarket(rules: MarginSymbol): SymbolMarket {
  return { rules, shown: undefined, takenAt: 0, taken: { buy: ZERO, sell: ZERO } }
}

function createAccount(uid: string): MarginAccount {
  return { uid, open: new Map(), ended: new Map(), endings: 0, records: { isolated: [], crossed: [] } }
}

import { type Decimal } from '../../../lib/decimal.ts'
import { type BookOrder } from '../../matching/book-order.ts'
import { type BalanceName } from '../../wallet/coin-money.ts'

export type MarginMode = 'isolated' | 'crossed'
export type LoanType = 'normal' | 'autoLoan' | 'autoRepay' | 'autoLoanAndRepay'
export type OrderSource = 'WEB' | 'IOS' | 'ANDROID' | 'API' | 'SYS'

/**
 * live -> partial_fill -> filled
 * live, partial_fill -> cancelled   by its owner, its force, a liquidation, or for want of a market
 * reject                            post only that would take: it never was in the market
 */
export type MarginStatus = 'live' | 'partial_fill' | 'filled' | 'cancelled' | 'reject'

/** Why it is there: an account's own order, a forced one, or one that repays an overdue loan. */
export type Purpose = 'trade' | 'liquidation' | 'systemRepay'

export interface BalanceRef {
  readonly uid: string
  readonly balance: BalanceName
}

export interface MarginOrder extends BookOrder {
  /** 18 digits; later ids are larger. */
  readonly id: string
  readonly mode: MarginMode
  readonly symbol: string
  readonly clientOid: string
  readonly loanType: LoanType
  readonly source: OrderSource
  readonly purpose: Purpose
  /** Quote coin; of a forced order the displayed price it was placed at, undefined for other market orders. */
  readonly price: Decimal | undefined
  /** Ordered quantity; undefined for a market buy, which is ordered by its quote size. */
  readonly base: Decimal | undefined
  readonly quote: Decimal | undefined
  filledBase: Decimal
  filledQuote: Decimal
  /** Still set aside in the balance: quote coin for a buy, base coin for a sell. Forced orders set nothing aside. */
  frozen: Decimal
  /** What it borrowed when it came in. Own money is spent first: what it does not use goes back. */
  readonly loan: Decimal
  status: MarginStatus
  /** Unix ms. */
  readonly createdAt: number
  updatedAt: number
  /** Its place among the ended orders of the account; 0 while it is open. */
  ending: number
}

export function balanceOf(mode: MarginMode, symbol: string): BalanceName {
  return mode === 'crossed' ? 'crossed' : `isolated:${symbol}`
}

export function balanceRefOf(order: Pick<MarginOrder, 'uid' | 'mode' | 'symbol'>): BalanceRef {
  return { uid: order.uid, balance: balanceOf(order.mode, order.symbol) }
}

export function modeOf(balance: BalanceName): MarginMode {
  return balance === 'crossed' ? 'crossed' : 'isolated'
}

export function isOpen({ status }: MarginOrder): boolean {
  return status === 'live' || status === 'partial_fill'
}

/** The system's own. */
export function isForced({ purpose }: MarginOrder): boolean {
  return purpose !== 'trade'
}

export function borrows(loanType: LoanType): boolean {
  return loanType === 'autoLoan' || loanType === 'autoLoanAndRepay'
}

export function repays(loanType: LoanType): boolean {
  return loanType === 'autoRepay' || loanType === 'autoLoanAndRepay'
}

/** What a liquidation did: forced an order through, or swapped one coin for another. */
export type LiquidationRecord = OrderRecord | SwapRecord

interface RecordBase {
  readonly uid: string
  readonly mode: MarginMode
  /** The order's id; a swap has one of its own. */
  readonly id: string
  readonly createdAt: number
  readonly updatedAt: number
}

export interface OrderRecord extends RecordBase {
  readonly type: 'place_order'
  readonly symbol: string
  readonly direction: 'buy' | 'sell'
  /** Displayed when the order was placed. */
  readonly price: Decimal
  readonly size: Decimal
  readonly filledBase: Decimal
  readonly filledQuote: Decimal
}

export interface SwapRecord extends RecordBase {
  readonly type: 'swap'
  readonly fromCoin: string
  readonly toCoin: string
  readonly fromSize: Decimal
  readonly toSize: Decimal
}

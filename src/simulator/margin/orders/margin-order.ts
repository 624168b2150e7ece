import type { ExchangeMarginMode } from '../../shared/account.ts'
import type { Decimal } from '../../../lib/decimal.ts'
import type { PairOrder } from '../../services/pair-order.ts'
import type { BalanceName, BalanceRef } from '../../wallet/coin-money.ts'

export const LOAN_TYPES = ['normal', 'autoLoan', 'autoRepay', 'autoLoanAndRepay'] as const
export type LoanType = (typeof LOAN_TYPES)[number]
export type OrderSource = 'WEB' | 'IOS' | 'ANDROID' | 'API' | 'SYS'

export type Purpose = 'trade' | 'liquidation' | 'systemRepay'

export interface ModeOwner {
  readonly uid: string
  readonly mode: ExchangeMarginMode
}

export interface MarginAccountOrder extends PairOrder {
  readonly mode: ExchangeMarginMode
  readonly loanType: LoanType
  readonly source: OrderSource
  readonly purpose: Purpose
  /** The amount borrowed for this order. Own money is spent first, and what is left of the loan returned. */
  readonly loan: Decimal
}

export function balanceOf(mode: ExchangeMarginMode, symbol: string): BalanceName {
  return mode === 'crossed' ? 'crossed' : `isolated:${symbol}`
}

export function balanceRefOf(
  order: Pick<MarginAccountOrder, 'uid' | 'mode' | 'symbol'>,
): BalanceRef {
  return { uid: order.uid, balance: balanceOf(order.mode, order.symbol) }
}

export function modeOf(balance: BalanceName): ExchangeMarginMode {
  return balance === 'crossed' ? 'crossed' : 'isolated'
}

export function isForced({ purpose }: MarginAccountOrder): boolean {
  return purpose !== 'trade'
}

export function borrows(loanType: LoanType): boolean {
  return loanType === 'autoLoan' || loanType === 'autoLoanAndRepay'
}

export function repays(loanType: LoanType): boolean {
  return loanType === 'autoRepay' || loanType === 'autoLoanAndRepay'
}

export type LiquidationRecord = OrderRecord | SwapRecord

type RecordBase = Pick<MarginAccountOrder, 'uid' | 'mode' | 'id' | 'createdAt' | 'updatedAt'>

export interface OrderRecord
  extends
    RecordBase,
    Pick<
      MarginAccountOrder,
      'symbol' | 'direction' | 'price' | 'size' | 'filledBase' | 'filledQuote'
    > {
  readonly type: 'place_order'
}

export interface SwapSizes {
  readonly fromCoin: string
  readonly toCoin: string
  readonly fromSize: Decimal
  readonly toSize: Decimal
}

interface SwapRecord extends RecordBase, SwapSizes {
  readonly type: 'swap'
}

import { decimal, ZERO, type Decimal } from '../../../lib/decimal.ts'
import { type AccountRef } from '../../shared/account.ts'
import { accept, refuse, type Refusal, type Reply } from '../../shared/reply.ts'
import { hasPlaces, COIN_PLACES } from '../../wallet/rounding.ts'
import { borrowRefusal } from './borrow-limit.ts'
import { lend, payBack } from './loans.ts'
import { balanceOf, type BalanceRef } from '../orders/margin-order.ts'
import { marginRefusals } from '../margin-refusals.ts'
import { type LoanRequest } from '../margin-requests.ts'
import { coinIn, moneyOf, refreshBooks, type MarginState } from '../margin-state.ts'
import { BORROWABLE_COINS } from '../margin-symbols.ts'

/** What a loan request did: the amount lent or paid, as a decimal string. */
export interface LoanResult {
  readonly coin: string
  readonly amount: string
}

/** A loan without an order. */
export function borrow(state: MarginState, { uid }: AccountRef, request: LoanRequest): Reply<LoanResult> {
  refreshBooks(state)
  const asked = readLoan(state, uid, request)
  if ('code' in asked) return refuse(asked)
  const { ref, coin, amount } = asked
  const refusal = borrowRefusal(state, ref, { coin, amount })
  if (refusal !== undefined) return refuse(refusal)
  lend(state, ref, { coin, amount })
  return accept({ coin, amount: amount.toString() })
}

/** Pays interest first; more than is owed pays what is owed. */
export function repay(state: MarginState, { uid }: AccountRef, request: LoanRequest): Reply<LoanResult> {
  const asked = readLoan(state, uid, request)
  if ('code' in asked) return refuse(asked)
  const { ref, coin, amount } = asked
  if (amount.gt(moneyOf(state, ref, coin).available)) return refuse(marginRefusals.repayTooLarge())
  return accept({ coin, amount: payBack(state, ref, { coin, amount }).toString() })
}

/** Brings collateral from outside, for the operator and for tests. */
export function depositCollateral(
  state: MarginState,
  { uid }: AccountRef,
  request: LoanRequest,
): Reply<LoanResult> {
  const asked = readLoan(state, uid, request)
  if ('code' in asked) return refuse(asked)
  const { ref, coin, amount } = asked
  state.ports.wallet.book(coinIn(ref, coin), 'deposit', amount)
  return accept({ coin, amount: amount.toString() })
}

interface AskedLoan {
  readonly ref: BalanceRef
  readonly coin: string
  readonly amount: Decimal
}

const PLAIN_DECIMAL = /^\d{1,20}(\.\d{1,20})?$/

function readLoan(state: MarginState, uid: string, request: LoanRequest): AskedLoan | Refusal {
  const { mode, symbol = '', coin, amount } = request
  if (mode === 'isolated' && symbol === '') return marginRefusals.parameterEmpty('symbol')
  const market = state.symbols.get(symbol)
  if (mode === 'isolated' && market === undefined) return marginRefusals.symbolUnknown(symbol)
  if (!BORROWABLE_COINS.has(coin)) return marginRefusals.coinUnknown()
  if (mode === 'isolated' && market?.rules.baseCoin !== coin && market?.rules.quoteCoin !== coin) {
    return marginRefusals.coinMismatch()
  }
  const value = PLAIN_DECIMAL.test(amount) ? decimal(amount) : ZERO
  if (value.eq(ZERO)) return marginRefusals.repayTooSmall()
  if (!hasPlaces(value, COIN_PLACES)) return marginRefusals.scale('amount', amount, COIN_PLACES)
  return { ref: { uid, balance: balanceOf(mode, symbol) }, coin, amount: value }
}

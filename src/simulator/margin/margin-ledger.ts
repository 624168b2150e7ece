import { type WalletCoin } from '../wallet/wallet-statement.ts'
import { isOpen } from '../matching/order-lifecycle.ts'
import { type MarginMode } from './orders/margin-order.ts'
import { recordsKey, refreshBooks, type MarginState } from './margin-state.ts'
import { toWireOrder, type WireMarginOrder } from './orders/open-orders-page.ts'
import { assessBalance, riskRatio } from './debts/balance-risk.ts'

/** What an account has on margin. Amounts are exact decimals in strings. */
export interface MarginLedger {
  readonly balances: readonly MarginBalance[]
  readonly openOrders: readonly WireMarginOrder[]
  /** Filled, cancelled and rejected ones that are remembered, oldest first. */
  readonly endedOrders: readonly WireMarginOrder[]
  readonly liquidations: { readonly isolated: number; readonly crossed: number }
}

export interface MarginBalance {
  readonly balance: string
  readonly coins: readonly WalletCoin[]
  /** Quote coin, at the displayed price; undefined without one. */
  readonly equity: string | undefined
  readonly debts: string | undefined
  /** Maintenance over equity: the balance is taken over at 1. Undefined without a price, or when the equity is gone. */
  readonly riskRatio: string | undefined
}

export function marginLedger(state: MarginState, uid: string): MarginLedger {
  refreshBooks(state)
  const orders = state.orders.of(uid)
  const { coins } = state.ports.wallet.statement(uid)
  const balances = [...new Set(coins.map(({ balance }) => balance))]
    .filter((balance) => balance !== 'spot')
    .sort()
  const count = (mode: MarginMode) => state.records.of(recordsKey({ uid, mode })).length
  return {
    balances: balances.map((balance) => toBalance(state, uid, { balance, coins })),
    openOrders: orders.filter(isOpen).map(toWireOrder),
    endedOrders: orders.filter((order) => !isOpen(order)).map(toWireOrder),
    liquidations: { isolated: count('isolated'), crossed: count('crossed') },
  }
}

function toBalance(
  state: MarginState,
  uid: string,
  { balance, coins }: { balance: string; coins: readonly WalletCoin[] },
): MarginBalance {
  const ref = {
    uid,
    balance: balance === 'crossed' ? balance : (`isolated:${balance.slice(9)}` as const),
  } as const
  const risk = assessBalance(state, ref)
  return {
    balance,
    coins: coins.filter((coin) => coin.balance === balance),
    equity: risk?.equity.toString(),
    debts: risk?.debts.toString(),
    riskRatio: risk && riskRatio(risk)?.toString(),
  }
}

import { type WalletCoin } from '../wallet/wallet-statement.ts'
import { type LiquidationRecord } from './margin-order.ts'
import { accountOf, type MarginState } from './margin-state.ts'
import { toWireOrder, type WireMarginOrder } from './open-orders-page.ts'
import { assessPurse, riskRatio } from './purse-risk.ts'

/** What an account has on margin. Amounts are exact decimals in strings. */
export interface MarginLedger {
  readonly purses: readonly MarginPurse[]
  readonly openOrders: readonly WireMarginOrder[]
  /** Filled, cancelled and rejected ones that are remembered, in the order they ended. */
  readonly endedOrders: readonly WireMarginOrder[]
  readonly liquidations: { readonly isolated: number; readonly crossed: number }
}

export interface MarginPurse {
  readonly purse: string
  readonly coins: readonly WalletCoin[]
  /** Quote coin, at the displayed price; undefined without one. */
  readonly equity: string | undefined
  readonly debts: string | undefined
  /** Maintenance over equity: the purse is taken over at 1. Undefined without a price, or when the equity is gone. */
  readonly riskRatio: string | undefined
  readonly isInLiquidation: boolean
}

export function marginLedger(state: MarginState, uid: string): MarginLedger {
  const account = accountOf(state, uid)
  const { coins } = state.ports.wallet.statement(uid)
  const purses = [...new Set(coins.map(({ purse }) => purse))].filter((purse) => purse !== 'spot').sort()
  const count = (records: readonly LiquidationRecord[]) => records.length
  return {
    purses: purses.map((purse) => toPurse(state, uid, { purse, coins })),
    openOrders: [...account.open.values()].map(toWireOrder),
    endedOrders: [...account.ended.values()].map(toWireOrder),
    liquidations: { isolated: count(account.records.isolated), crossed: count(account.records.crossed) },
  }
}

function toPurse(
  state: MarginState,
  uid: string,
  { purse, coins }: { purse: string; coins: readonly WalletCoin[] },
): MarginPurse {
  const ref = { uid, purse: purse === 'crossed' ? purse : (`isolated:${purse.slice(9)}` as const) } as const
  const risk = assessPurse(state, ref)
  return {
    purse,
    coins: coins.filter((coin) => coin.purse === purse),
    equity: risk?.equity.toString(),
    debts: risk?.debts.toString(),
    riskRatio: risk && riskRatio(risk)?.toString(),
    isInLiquidation: state.liquidations.has(`${uid}/${purse}`),
  }
}

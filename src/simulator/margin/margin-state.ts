import type { Decimal } from '../../lib/decimal.ts'
import type { PairMarket } from '../services/pair-market.ts'
import type { PairTrading } from '../services/pair-service.ts'
import type { Histories } from '../shared/histories.ts'
import { singleRow, type PlacedCodec } from '../store/stored-rows.ts'
import type { BalanceRef, CoinMoney, CoinRef } from '../wallet/coin-money.ts'
import type { LiquidationRecord, MarginAccountOrder, ModeOwner } from './orders/margin-order.ts'
import type { MarginSettings } from './margin-settings.ts'
import type { MarginSymbol } from './margin-symbols.ts'

export interface MarginState extends PairTrading<MarginAccountOrder, MarginSymbol> {
  readonly settings: MarginSettings
  readonly clock: MarginClock
  readonly records: Histories<LiquidationRecord>
  readonly debtors: Map<string, Debtor>
}

export interface MarginClock {
  now: number
  accruedAt: number
}

export type MarginPair = PairMarket<MarginAccountOrder, MarginSymbol>

export interface Debtor extends BalanceRef {
  readonly since: Map<string, number>
}

export const ACCRUAL = singleRow<{ accruedAt: number }>('margin_accrual')

type DebtorRow = Omit<Debtor, 'since'> & { readonly since: Readonly<Record<string, number>> }

export const DEBTORS: PlacedCodec<MarginState, Debtor, DebtorRow> = {
  table: 'debtors',
  id: balanceKey,
  isGone: ({ since }) => since.size === 0,
  write: (debtor) => ({ ...debtor, since: Object.fromEntries(debtor.since) }),
  place(state, row) {
    if (!state.ports.accounts.some(({ uid }) => uid === row.uid)) return
    state.debtors.set(balanceKey(row), { ...row, since: new Map(Object.entries(row.since)) })
  },
}

export const HOUR_MS = 3_600_000

export function pairsOf(state: MarginState, { balance }: BalanceRef): MarginPair[] {
  return [...state.pairs.values()].filter(
    ({ rules }) => balance === 'crossed' || balance === `isolated:${rules.symbol}`,
  )
}

export function balanceKey({ uid, balance }: BalanceRef): string {
  return `${uid}/${balance}`
}

export function recordsKey({ uid, mode }: ModeOwner): string {
  return `${uid}/${mode}`
}

export function coinIn(ref: BalanceRef, coin: string): CoinRef {
  return { uid: ref.uid, balance: ref.balance, coin }
}

export function moneyOf(state: MarginState, ref: BalanceRef, coin: string): CoinMoney {
  return state.ports.wallet.coin(coinIn(ref, coin))
}

export function debtOf({ borrowed, interest }: CoinMoney): Decimal {
  return borrowed.plus(interest)
}

export function refreshBooks({ pairs }: MarginState): void {
  for (const pair of pairs.values()) pair.refresh()
}

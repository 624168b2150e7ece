import type { Decimal } from '../../lib/decimal.ts'
import type { PairMarket } from '../services/pair-market.ts'
import { openPairs, type PairTrading } from '../services/pair-order.ts'
import type { ServicePorts } from '../services/service-ports.ts'
import { Histories } from '../shared/histories.ts'
import { singleRow, type PlacedCodec } from '../store/stored-rows.ts'
import type { BalanceRef, CoinMoney, CoinRef } from '../wallet/coin-money.ts'
import type { LiquidationRecord, MarginOrder, ModeOwner } from './orders/margin-order.ts'
import type { MarginSettings } from './margin-settings.ts'
import { MARGIN_SYMBOLS, type MarginSymbol } from './margin-symbols.ts'

/**
 * The margin service's whole state besides the wallet. Each function of this module takes it as its
 * first argument.
 */
export interface MarginState extends PairTrading<MarginOrder, MarginSymbol> {
  readonly settings: MarginSettings
  readonly clock: MarginClock
  /** Records by {@link recordsKey}; at most `recordsMax` each. */
  readonly records: Histories<LiquidationRecord>
  /** Balances with debts, by {@link balanceKey}. Bounded by accounts x balances. */
  readonly debtors: Map<string, Debtor>
}

/** Unix ms of the exchange's clock; 0 is "never yet". */
export interface MarginClock {
  now: number
  /** The full hour up to which interest has accrued. */
  accruedAt: number
}

/** A pair with the orders of both modes. */
export type MarginPair = PairMarket<MarginOrder, MarginSymbol>

export interface Debtor extends BalanceRef {
  /** Time at which the current debt began, by coin, Unix ms. */
  readonly since: Map<string, number>
}

/** The hour up to which interest has accrued. */
export const ACCRUAL = singleRow<{ accruedAt: number }>('margin_accrual')

type DebtorRow = Omit<Debtor, 'since'> & { readonly since: Readonly<Record<string, number>> }

export const DEBTORS: PlacedCodec<MarginState, Debtor, DebtorRow> = {
  table: 'debtors',
  id: balanceKey,
  isGone: ({ since }) => since.size === 0,
  write: (debtor) => ({ ...debtor, since: Object.fromEntries(debtor.since) }),
  place(state, row) {
    // Debts of a removed account are dropped.
    if (!state.ports.accounts.some(({ uid }) => uid === row.uid)) return
    state.debtors.set(balanceKey(row), { ...row, since: new Map(Object.entries(row.since)) })
  },
}

export const HOUR_MS = 3_600_000

/** The stored state; empty at the first start. */
export function openMarginState(ports: ServicePorts, settings: MarginSettings): MarginState {
  const { rows, startAt } = ports
  const { ordersMax, recordsMax } = settings
  const state: MarginState = {
    ...openPairs<MarginOrder, MarginSymbol>(ports, MARGIN_SYMBOLS, {
      table: 'margin_orders',
      decimals: ['loan'],
      ordersMax,
    }),
    settings,
    clock: {
      now: startAt,
      accruedAt: startAt - (startAt % HOUR_MS),
      ...rows.readOne(ACCRUAL, ACCRUAL.id()),
    },
    records: new Histories<LiquidationRecord>(rows, {
      codec: {
        table: 'margin_records',
        id: ({ id }) => id,
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

/** Pairs that a balance can trade: its own pair, or all of them. */
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

/** Debt of a coin: principal and interest. */
export function debtOf({ borrowed, interest }: CoinMoney): Decimal {
  return borrowed.plus(interest)
}

/** Takes in the displayed quotes, because quotes without orders or debts are skipped. */
export function refreshBooks({ pairs }: MarginState): void {
  for (const pair of pairs.values()) pair.refresh()
}

import type { ClosedTrade } from '../../domain/closed-trade.ts'
import type { JournalPlace } from '../../domain/journal-place.ts'
import type { Deposit } from '../../domain/deposit.ts'
import type { BookedRow } from '../../journal/booking.ts'

/**
 * An account over a span of time. All amounts are exact decimals in the margin coin, unless a field
 * names another coin; null: not known.
 */
export interface Statement {
  readonly account: string
  readonly environment: string
  readonly coin: string
  readonly timeZone: string
  /** Unix ms; `until` is not included. Shorter than what was asked for if that is not over. */
  readonly since: number
  readonly until: number
  readonly madeAt: number
  readonly journal: JournalPlace
  readonly opening: StatementBalance | null
  readonly closing: StatementBalance | null
  /** From opening to closing. They add up, or `difference` says by how much they do not. */
  readonly lines: readonly StatementLine[]
  /** Closing less opening and all lines; null: one of the two is not known. */
  readonly difference: string | null
  readonly fees: readonly CoinFees[]
  readonly days: readonly StatementRow[]
  readonly instruments: readonly StatementRow[]
  /** Profit at each strategy's own average prices; a last row leads to the account's figures. */
  readonly strategies: readonly StatementRow[]
  readonly trades: readonly ClosedTrade[]
  readonly deposits: readonly Deposit[]
  readonly conversions: readonly Conversion[]
  /** Each fill and funding payment, for tables of others. */
  readonly rows: readonly BookedRow[]
  readonly checks: readonly StatementCheck[]
  /** Missing or unknown amounts, in sentences. */
  readonly remarks: readonly string[]
}

/** The equity is capital + made + unrealised. */
export interface StatementBalance {
  /** When the account noted it; Unix ms. */
  readonly notedAt: number
  readonly equity: string | null
  readonly capital: string | null
  /** Realised less fees, with funding, since the journal began. */
  readonly made: string
  readonly unrealised: string
}

export const LINE_NAMES = {
  deposits: 'Deposits',
  withdrawals: 'Withdrawals',
  capitalChange: 'Change of account.capital in the configuration',
  realised: 'Realised profit',
  fees: 'Fees',
  funding: 'Funding',
  unrealised: 'Change of unrealised profit',
} as const

export type LineName = keyof typeof LINE_NAMES

export interface StatementLine {
  readonly name: LineName
  /** With its sign: what is paid is negative. */
  readonly amount: string
}

export interface CoinFees {
  readonly coin: string
  readonly paid: string
  /** Margin coin: as much of it is part of the fees. */
  readonly worth: string
  /** In the coin itself: without a price, and not counted. */
  readonly uncounted: string
}

export interface StatementRow {
  readonly name: string
  readonly fills: number
  readonly realised: string
  readonly fees: string
  readonly funding: string
  /** realised - fees + funding */
  readonly net: string
}

/** Into the platform's own coin, as the exchange lists it. */
export interface Conversion {
  readonly id: string
  /** Unix ms, exchange clock. */
  readonly at: number
  readonly fromCoin: string
  readonly fromAmount: string
  readonly toCoin: string
  readonly toAmount: string
  readonly fees: readonly { readonly coin: string; readonly amount: string }[]
}

/** Compared with the exchange, as far as it answers. */
export interface StatementCheck {
  readonly what: string
  readonly state: 'agrees' | 'differs' | 'notChecked'
  /** The exchange refused to show it, or did not answer. */
  readonly isUnread?: true
  readonly found: string
}

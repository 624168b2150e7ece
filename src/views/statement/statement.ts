import type { ClosedTrade } from '../../domain/closed-trade.ts'
import type { JournalPlace } from '../../domain/journal-place.ts'
import type { Deposit } from '../../domain/deposit.ts'
import type { BookedRow } from '../../journal/booking.ts'

/**
 * Amounts are exact decimals in the margin coin, unless a field names another coin; null: not
 * known.
 */
export interface Statement {
  readonly account: string
  readonly environment: string
  readonly coin: string
  readonly timeZone: string
  /** Unix ms; `until` is excluded. Shorter than requested if that is not over. */
  readonly since: number
  readonly until: number
  readonly madeAt: number
  readonly journal: JournalPlace
  readonly opening: StatementBalance | null
  readonly closing: StatementBalance | null
  /** If they do not add up, `difference` says by how much. */
  readonly lines: readonly StatementLine[]
  /** Null: opening or closing is not known. */
  readonly difference: string | null
  readonly fees: readonly StatementFees[]
  readonly days: readonly StatementRow[]
  readonly instruments: readonly StatementRow[]
  /** Profit at each strategy's own average prices; a last row leads to the account's figures. */
  readonly strategies: readonly StatementRow[]
  readonly trades: readonly ClosedTrade[]
  readonly deposits: readonly Deposit[]
  readonly conversions: readonly CoinConversion[]
  readonly rows: readonly BookedRow[]
  readonly checks: readonly StatementCheck[]
  readonly remarks: readonly string[]
}

/** The equity is capital + made + unrealised. */
export interface StatementBalance {
  readonly notedAt: number
  readonly equity: string | null
  readonly capital: string | null
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

export interface StatementFees {
  readonly coin: string
  readonly paid: string
  /** Margin coin; included in the fees. */
  readonly worth: string
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

/** The exchange lists these, into its own coin. */
export interface CoinConversion {
  readonly id: string
  /** Unix ms, exchange clock. */
  readonly at: number
  readonly fromCoin: string
  readonly fromAmount: string
  readonly toCoin: string
  readonly toAmount: string
  readonly fees: readonly { readonly coin: string; readonly amount: string }[]
}

export interface StatementCheck {
  readonly what: string
  readonly state: 'agrees' | 'differs' | 'notChecked'
  readonly isUnread?: true
  readonly found: string
}

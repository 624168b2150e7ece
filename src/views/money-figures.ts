import { type Money, type Uncounted, uncountedOf } from '../domain/fill-money.ts'
import { type Decimal, decimal, ZERO } from '../lib/decimal.ts'

/** What was made, net first: decimal strings in the margin coin. Its field says of which span: this run, all runs, a day. */
export interface MoneyFigures {
  readonly fills: number
  /** Realised less fees, with funding where it stands here. What is held is not in it. */
  readonly net: string
  /** The same and the unrealised profit of what is held now; absent where that is not known. */
  readonly netWithUnrealised?: string
  readonly realisedProfit: string
  readonly fees: string
  /** Absent where it belongs to nobody: funding is an instrument's, not a strategy's. */
  readonly funding?: string
  /** Absent where it is not known. */
  readonly unrealisedProfit?: string
  /** What is not in these figures, because it is not known; absent where all is. */
  readonly uncounted?: Uncounted
}

interface BesideFills {
  readonly funding?: Decimal | undefined
  readonly unrealised?: Decimal | undefined
}

export function toMoneyFigures(money: Money, { funding, unrealised }: BesideFills): MoneyFigures {
  const uncounted = uncountedOf(money)
  const net = money.profit.minus(money.fees).plus(funding ?? ZERO)
  return {
    fills: money.fills,
    net: net.toString(),
    ...(unrealised && { netWithUnrealised: net.plus(unrealised).toString() }),
    realisedProfit: money.profit.toString(),
    fees: money.fees.toString(),
    ...(funding && { funding: funding.toString() }),
    ...(unrealised && { unrealisedProfit: unrealised.toString() }),
    ...(uncounted && { uncounted }),
  }
}

/** Digits after the point that a float is shown with: as many as the wire has. */
const DIGITS = 8

/** Sums of floats without their last digits: 100, not 100.00000000000006. */
export function roundAmount(amount: number): number {
  return Number(amount.toFixed(DIGITS))
}

export function toAmount(amount: number): Decimal {
  return decimal(amount.toFixed(DIGITS))
}

import { type Money, type Uncounted, uncountedOf } from '../domain/fill-money.ts'
import { type Decimal, decimal, ZERO } from '../lib/decimal.ts'

/** Decimal strings in the margin coin. */
export interface MoneyFigures {
  readonly fills: number
  /** Realised minus fees, and funding if it is present. */
  readonly net: string
  readonly netWithUnrealised?: string
  readonly realisedProfit: string
  readonly fees: string
  /** Funding belongs to an instrument, not to a strategy. */
  readonly funding?: string
  readonly unrealisedProfit?: string
  readonly uncounted?: Uncounted
}

interface MoneyOutsideFills {
  readonly funding?: Decimal | undefined
  readonly unrealised?: Decimal | undefined
}

export function toMoneyFigures(
  money: Money,
  { funding, unrealised }: MoneyOutsideFills,
): MoneyFigures {
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

const DIGITS = 8

/** Removes the noise of floats: 100, not 100.00000000000006. */
export function roundAmount(amount: number): number {
  return Number(amount.toFixed(DIGITS))
}

export function toAmount(amount: number): Decimal {
  return decimal(amount.toFixed(DIGITS))
}

import { type Decimal, decimal, ZERO } from '../lib/decimal.ts'
import type { CoinFee, Fill } from './fill.ts'

/** Margin coin, as far as known (MON2). An absent field is zero. */
export interface Money {
  readonly profit: Decimal
  /** Includes fees in other coins as far as their worth is known; negative if received. */
  readonly fees: Decimal
  readonly fills: number
  readonly otherFees?: Readonly<Record<string, OtherFees>>
  readonly feesMissing?: number
  readonly profitsMissing?: number
  readonly profitsOurs?: number
}

const COUNTS = ['feesMissing', 'profitsMissing', 'profitsOurs'] as const

export interface OtherFees {
  readonly paid: string
  readonly uncounted: string
  /** The counted part, margin coin; the fees include it. */
  readonly worth: string
}

export interface Uncounted {
  readonly coins: Readonly<Record<string, string>>
  readonly feesMissing: number
  readonly profitsMissing: number
  readonly profitsOurs: number
}

/** An empty text means that the amount is not known. */
export type FillMoney = Pick<Fill, 'fee' | 'profit' | 'otherFees' | 'isProfitOurs'>

export const NO_MONEY: Money = { profit: ZERO, fees: ZERO, fills: 0 }

/** The exchange's number of decimals. */
const MONEY_DECIMALS = 8

/** Amounts that are computed with floats get as many decimals as those that the exchange states. */
export function roundMoney(amount: number): Decimal {
  return decimal(amount.toFixed(MONEY_DECIMALS))
}

export function feeOf({ fee, otherFees = [] }: Pick<Fill, 'fee' | 'otherFees'>): Decimal {
  let sum = decimal(fee || '0')
  for (const other of otherFees) sum = sum.plus(worthOf(other))
  return sum
}

export function profitOf({ profit }: Pick<Fill, 'profit'>): Decimal {
  return decimal(profit || '0')
}

export function addFill(money: Money, fill: FillMoney): Money {
  const { fee, profit, otherFees = [], isProfitOurs } = fill
  let sum: Money = {
    ...money,
    profit: money.profit.plus(profitOf(fill)),
    fees: money.fees.plus(feeOf(fill)),
    fills: money.fills + 1,
  }
  if (!fee) sum = { ...sum, feesMissing: (sum.feesMissing ?? 0) + 1 }
  if (!profit) sum = { ...sum, profitsMissing: (sum.profitsMissing ?? 0) + 1 }
  if (isProfitOurs) sum = { ...sum, profitsOurs: (sum.profitsOurs ?? 0) + 1 }
  for (const { coin, amount, price } of otherFees) {
    const uncounted = price === undefined ? amount : '0'
    const worth = worthOf({ coin, amount, ...(price !== undefined && { price }) }).toString()
    sum = { ...sum, otherFees: addOther(sum.otherFees, coin, { paid: amount, uncounted, worth }) }
  }
  return sum
}

export function sumMoney(parts: Iterable<Money>): Money {
  let sum = NO_MONEY
  for (const part of parts) {
    sum = {
      ...sum,
      profit: sum.profit.plus(part.profit),
      fees: sum.fees.plus(part.fees),
      fills: sum.fills + part.fills,
    }
    for (const name of COUNTS) {
      const count = (sum[name] ?? 0) + (part[name] ?? 0)
      if (part[name] !== undefined) sum = { ...sum, [name]: count }
    }
    for (const [coin, other] of Object.entries(part.otherFees ?? {}))
      sum = { ...sum, otherFees: addOther(sum.otherFees, coin, other) }
  }
  return sum
}

export function moneySince(money: Money, before: Money): Money {
  const negated: Money = {
    profit: ZERO.minus(before.profit),
    fees: ZERO.minus(before.fees),
    fills: -before.fills,
    ...Object.fromEntries(COUNTS.map((name) => [name, -(before[name] ?? 0)])),
    otherFees: Object.fromEntries(
      Object.entries(before.otherFees ?? {}).map(([coin, other]) => [coin, negateOther(other)]),
    ),
  }
  return sumMoney([money, negated])
}

export function uncountedOf(money: Money): Uncounted | undefined {
  const { otherFees = {}, feesMissing = 0, profitsMissing = 0, profitsOurs = 0 } = money
  const coins = Object.entries(otherFees)
    .filter(([, { uncounted }]) => !decimal(uncounted).eq(ZERO))
    .map(([coin, { uncounted }]) => [coin, uncounted] as const)
  if (coins.length === 0 && feesMissing === 0 && profitsMissing === 0 && profitsOurs === 0)
    return undefined
  return { coins: Object.fromEntries(coins), feesMissing, profitsMissing, profitsOurs }
}

/** `+ 0.011 BGB, the fee of 2 fills, the profit of 1 fill not counted` */
export function describeUncounted(uncounted: Uncounted | undefined | null): string {
  if (!uncounted) return ''
  const { coins, feesMissing, profitsMissing, profitsOurs } = uncounted
  const of = (what: string, count: number): string[] =>
    count === 0 ? [] : [`the ${what} of ${count} ${count === 1 ? 'fill' : 'fills'}`]
  const parts = [
    ...Object.entries(coins).map(([coin, amount]) => `${amount} ${coin}`),
    ...of('fee', feesMissing),
    ...of('profit', profitsMissing),
  ]
  const ours = of('profit', profitsOurs).map((what) => `${what} by our own count`)
  return [...(parts.length > 0 ? [`+ ${parts.join(', ')} not counted`] : []), ...ours].join('; ')
}

export function marginFeesOf({ fees, otherFees = {} }: Money): Decimal {
  return Object.values(otherFees).reduce((sum, { worth }) => sum.minus(decimal(worth)), fees)
}

/** `BGB 0.011 at 4.2;BNB 0.2`. A fee without a price is not counted. */
export function toFeesText(otherFees: readonly CoinFee[] = []): string {
  return otherFees
    .map(
      ({ coin, amount, price }) => `${coin} ${amount}${price === undefined ? '' : ` at ${price}`}`,
    )
    .sort()
    .join(';')
}

export function toFillMoney(
  row: Readonly<Record<'fee' | 'profit' | 'otherFees', string>>,
): FillMoney {
  const { fee, profit, otherFees } = row
  return {
    ...(fee !== '' && { fee }),
    ...(profit !== '' && { profit }),
    ...(otherFees !== '' && { otherFees: otherFees.split(';').map(toCoinFee) }),
  }
}

function toCoinFee(text: string): CoinFee {
  const [coin = '', amount = '0', , price] = text.split(' ')
  return { coin, amount, ...(price !== undefined && { price }) }
}

function worthOf({ amount, price }: CoinFee): Decimal {
  return price === undefined ? ZERO : decimal(amount).times(decimal(price))
}

function negateOther({ paid, uncounted, worth }: OtherFees): OtherFees {
  const minus = (text: string): string => ZERO.minus(decimal(text)).toString()
  return { paid: minus(paid), uncounted: minus(uncounted), worth: minus(worth) }
}

function addOther(
  known: Readonly<Record<string, OtherFees>> = {},
  coin: string,
  { paid, uncounted, worth }: OtherFees,
): Readonly<Record<string, OtherFees>> {
  const before = known[coin] ?? { paid: '0', uncounted: '0', worth: '0' }
  const plus = (one: string, other: string): string => decimal(one).plus(decimal(other)).toString()
  return {
    ...known,
    [coin]: {
      paid: plus(before.paid, paid),
      uncounted: plus(before.uncounted, uncounted),
      worth: plus(before.worth, worth),
    },
  }
}

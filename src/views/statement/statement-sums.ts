import {
  addFill,
  feeOf,
  marginFeesOf,
  type Money,
  NO_MONEY,
  profitOf,
  toFillMoney,
} from '../../domain/fill-money.ts'
import type { BookedRow } from '../../journal/booking.ts'
import { type Decimal, decimal, sumDecimals, ZERO } from '../../lib/decimal.ts'
import type { StrategyProfit } from '../strategy-profits.ts'
import type { StatementFees, StatementRow } from './statement.ts'

export interface StatementSum {
  readonly money: Money
  readonly funding: Decimal
}

const NOTHING: StatementSum = { money: NO_MONEY, funding: ZERO }

function addRow(sum: StatementSum = NOTHING, row: BookedRow): StatementSum {
  return row.kind === 'fill'
    ? { ...sum, money: addFill(sum.money, toFillMoney(row)) }
    : { ...sum, funding: sum.funding.plus(decimal(row.amount)) }
}

export function sumRows(rows: Iterable<BookedRow>): StatementSum {
  let sum = NOTHING
  for (const row of rows) sum = addRow(sum, row)
  return sum
}

export function netOf(row: BookedRow): Decimal {
  if (row.kind === 'funding') return decimal(row.amount)
  const money = toFillMoney(row)
  return profitOf(money).minus(feeOf(money))
}

export function groupRows(
  rows: Iterable<BookedRow>,
  nameOf: (row: BookedRow) => string,
): readonly StatementRow[] {
  const sums = new Map<string, StatementSum>()
  for (const row of rows) {
    const name = nameOf(row)
    sums.set(name, addRow(sums.get(name), row))
  }
  return [...sums]
    .map(([name, sum]) => toRow(name, sum))
    .toSorted((one, other) => (one.name < other.name ? -1 : 1))
}

function toRow(name: string, { money, funding }: StatementSum): StatementRow {
  return {
    name,
    fills: money.fills,
    realised: money.profit.toString(),
    fees: money.fees.toString(),
    funding: funding.toString(),
    net: money.profit.minus(money.fees).plus(funding).toString(),
  }
}

/** No strategy owns funding, nor closes of others' lots. */
const OF_ACCOUNT = '(account)'

/** The rows add up to `all`. */
export function toStrategyRows(
  profits: readonly StrategyProfit[],
  fillsOf: ReadonlyMap<string, number>,
  all: StatementSum,
): readonly StatementRow[] {
  const own = profits
    .filter(({ strategyId }) => strategyId !== '')
    .map(({ strategyId, profit, fees }): StatementRow => {
      return {
        name: strategyId,
        fills: fillsOf.get(strategyId) ?? 0,
        realised: profit.toString(),
        fees: fees.toString(),
        funding: '0',
        net: profit.minus(fees).toString(),
      }
    })
    .filter(({ fills, realised, fees }) => fills > 0 || realised !== '0' || fees !== '0')
    .toSorted((one, other) => (one.name < other.name ? -1 : 1))
  const sumOf = (of: (row: StatementRow) => string): Decimal =>
    sumDecimals(own.map((row) => decimal(of(row))))
  const realised = all.money.profit.minus(sumOf((row) => row.realised))
  const fees = all.money.fees.minus(sumOf((row) => row.fees))
  const rest: StatementRow = {
    name: OF_ACCOUNT,
    fills: all.money.fills - own.reduce((sum, { fills }) => sum + fills, 0),
    realised: realised.toString(),
    fees: fees.toString(),
    funding: all.funding.toString(),
    net: realised.minus(fees).plus(all.funding).toString(),
  }
  const isNothing = rest.fills === 0 && [realised, fees, all.funding].every((sum) => sum.eq(ZERO))
  return isNothing ? own : [...own, rest]
}

export function listFees(coin: string, money: Money): readonly StatementFees[] {
  const paid = marginFeesOf(money).toString()
  const others = Object.entries(money.otherFees ?? {}).toSorted(([one], [other]) =>
    one < other ? -1 : 1,
  )
  return [
    { coin, paid, worth: paid, uncounted: '0' },
    ...others.map(([name, fees]) => ({ coin: name, ...fees })),
  ]
}

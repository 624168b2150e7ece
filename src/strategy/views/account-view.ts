import type { AccountMoment } from '../../domain/snapshot.ts'
import { type Decimal, sumDecimals } from '../../lib/decimal.ts'

/**
 * Margin coin, as floats. Profit and fees are as fresh as the fills, funding and unrealised profit
 * as the positions. Unknown values are undefined.
 */
export interface AccountView {
  /** `account.capital`, or the simulator's initial balance, with all deposits and withdrawals since. */
  readonly capital: number | undefined
  /** Since the journal began, including what no strategy holds. */
  readonly realisedProfit: number
  readonly fees: number
  /** Received minus paid. */
  readonly funding: number
  /**
   * Our own figure. Undefined until all positions were read in this run, or without a price or
   * entry.
   */
  readonly unrealisedProfit: number | undefined
  /**
   * capital + realisedProfit - fees + funding + unrealisedProfit, when position and fills last
   * agreed. Limits, status and metrics use this number.
   */
  readonly equity: number | undefined
  /**
   * Equity minus the margin of all positions. The exchange does not state the margin of open
   * orders.
   */
  readonly free: number | undefined
}

export function buildAccount(moment: AccountMoment | undefined): AccountView {
  const money = [...(moment?.money.values() ?? [])]
  const realised = sumDecimals(money.map(({ profit }) => profit))
  const fees = sumDecimals(money.map((one) => one.fees))
  const funding = sumDecimals([...(moment?.funding.values() ?? [])])
  const { unrealised, margin } = sumMarks(moment)
  const equity = moment?.equity
  return {
    capital: toNumber(moment?.capital),
    realisedProfit: Number(realised.toString()),
    fees: Number(fees.toString()),
    funding: Number(funding.toString()),
    unrealisedProfit: unrealised,
    equity,
    free: add(equity, margin === undefined ? undefined : -margin),
  }
}

function sumMarks(moment: AccountMoment | undefined) {
  let unrealised: number | undefined = 0
  let margin: number | undefined = 0
  for (const [symbol, { longLots, shortLots }] of moment?.holdings ?? []) {
    if (longLots === 0 && shortLots === 0) continue
    const mark = moment?.marks.get(symbol)
    unrealised = add(unrealised, Number.isNaN(mark?.unrealised) ? undefined : mark?.unrealised)
    margin = add(margin, Number.isNaN(mark?.margin) ? undefined : mark?.margin)
  }
  return { unrealised, margin }
}

function add(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined ? undefined : one + other
}

function toNumber(value: Decimal | undefined): number | undefined {
  return value === undefined ? undefined : Number(value.toString())
}

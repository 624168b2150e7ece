import type { AccountMoment } from '../../domain/snapshot.ts'
import { type Decimal, sumDecimals } from '../../lib/decimal.ts'

/**
 * The account in the margin coin, as floats. Profit and fees are as fresh as the fills, funding and unrealised profit
 * as the positions. Undefined is what nobody has said yet.
 */
export interface AccountView {
  /** As configured: `account.capital`, or what the simulator begins with. */
  readonly capital: number | undefined
  /** Of all strategies and of what is nobody's, since the journal began. */
  readonly realisedProfit: number
  readonly fees: number
  /** Received less paid. */
  readonly funding: number
  /** Our own figure. Undefined until all that is held was read in this run, and while its price or entry is not known. */
  readonly unrealisedProfit: number | undefined
  /**
   * capital + realisedProfit - fees + funding + unrealisedProfit, of the last moment at which position and fills agreed:
   * the number that limits, status and metrics have.
   */
  readonly equity: number | undefined
  /** Equity less the margin of all positions. What open orders bind the exchange does not say. */
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

/** Of every instrument that the account holds. */
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

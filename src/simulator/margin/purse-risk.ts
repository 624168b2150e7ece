import { decimal, ZERO, type Decimal } from '../../lib/decimal.ts'
import { roundNearest } from './amounts.ts'
import { modeOf, type PurseRef } from './margin-order.ts'
import { debtOf, marketsOf, type MarginState, type SymbolMarket } from './margin-state.ts'

/** What a purse is worth, in quote coin: assets at the bid, debts at the ask. */
export interface PurseRisk {
  readonly assets: Decimal
  readonly debts: Decimal
  /** Assets less debts. */
  readonly equity: Decimal
  /** Maintenance / equity; undefined when nothing is left of the equity: the worst there is. */
  readonly ratio: Decimal | undefined
}

/** Undefined while a coin of the purse has no price: nobody is judged without one. */
export function assessPurse(state: MarginState, ref: PurseRef): PurseRisk | undefined {
  const markets = marketsOf(state, ref)
  let assets = ZERO
  let debts = ZERO
  for (const [coin, money] of state.ports.wallet.coins(ref.uid, ref.purse)) {
    const held = money.available.plus(money.frozen)
    const owed = debtOf(money)
    if (held.eq(ZERO) && owed.eq(ZERO)) continue
    const prices = pricesOf(markets, coin)
    if (prices === undefined) return undefined
    assets = assets.plus(held.times(prices.bid))
    debts = debts.plus(owed.times(prices.ask))
  }
  const equity = assets.minus(debts)
  return { assets, debts, equity, ratio: ratioOf(state, ref, { debts, equity }) }
}

export function mustLiquidate(state: MarginState, risk: PurseRisk): boolean {
  if (risk.debts.eq(ZERO)) return false
  return risk.ratio === undefined || risk.ratio.gte(decimal(state.settings.liquidationRatio))
}

/** What one of a coin is worth in the quote coin; undefined while it has no price. */
export function pricesOf(
  markets: readonly SymbolMarket[],
  coin: string,
): { readonly bid: Decimal; readonly ask: Decimal } | undefined {
  if (markets.some(({ rules }) => rules.quoteCoin === coin)) return { bid: ONE, ask: ONE }
  return markets.find(({ rules }) => rules.baseCoin === coin)?.shown
}

const ONE = decimal('1')

function ratioOf(
  { settings }: MarginState,
  { purse }: PurseRef,
  { debts, equity }: { debts: Decimal; equity: Decimal },
): Decimal | undefined {
  if (debts.eq(ZERO)) return ZERO
  if (equity.lte(ZERO)) return undefined
  const { isolatedMaintenanceRate, crossedMaintenanceRate } = settings
  const rate = modeOf(purse) === 'isolated' ? isolatedMaintenanceRate : crossedMaintenanceRate
  return roundNearest(debts.times(decimal(rate)).div(equity))
}

import { decimal, ZERO, type Decimal } from '../../../lib/decimal.ts'
import type { BalanceRef } from '../../wallet/coin-money.ts'
import { roundNearest } from '../../wallet/rounding.ts'
import { modeOf } from '../orders/margin-order.ts'
import { debtOf, pairsOf, type MarginPair, type MarginState } from '../margin-state.ts'

/** In quote coin, with assets at the bid and debts at the ask. */
export interface BalanceRisk {
  readonly debts: Decimal
  readonly equity: Decimal
  readonly maintenance: Decimal
}

export function assessBalance(state: MarginState, ref: BalanceRef): BalanceRisk | undefined {
  const pairs = pairsOf(state, ref)
  let assets = ZERO
  let debts = ZERO
  for (const [coin, money] of state.ports.wallet.coins(ref.uid, ref.balance)) {
    const held = money.available.plus(money.frozen)
    const owed = debtOf(money)
    if (held.eq(ZERO) && owed.eq(ZERO)) continue
    const prices = pricesOf(pairs, coin)
    if (prices === undefined) return undefined
    assets = assets.plus(held.times(prices.bid))
    debts = debts.plus(owed.times(prices.ask))
  }
  const equity = assets.minus(debts)
  return { debts, equity, maintenance: debts.times(decimal(maintenanceRate(state, ref))) }
}

export function mustLiquidate(state: MarginState, risk: BalanceRisk): boolean {
  if (risk.debts.eq(ZERO)) return false
  // A division would be slow, and would round.
  return risk.maintenance.gte(risk.equity.times(decimal(state.settings.liquidationRatio)))
}

/** Maintenance / equity; undefined, which is the worst, without equity. */
export function riskRatio({ debts, equity, maintenance }: BalanceRisk): Decimal | undefined {
  if (debts.eq(ZERO)) return ZERO
  return equity.lte(ZERO) ? undefined : roundNearest(maintenance.div(equity))
}

export function pricesOf(
  pairs: readonly MarginPair[],
  coin: string,
): { readonly bid: Decimal; readonly ask: Decimal } | undefined {
  if (pairs.some(({ rules }) => rules.quoteCoin === coin)) return { bid: ONE, ask: ONE }
  return pairs.find(({ rules }) => rules.baseCoin === coin)?.shownPrices()
}

const ONE = decimal('1')

function maintenanceRate({ settings }: MarginState, { balance }: BalanceRef): string {
  const { isolatedMaintenanceRate, crossedMaintenanceRate } = settings
  return modeOf(balance) === 'isolated' ? isolatedMaintenanceRate : crossedMaintenanceRate
}

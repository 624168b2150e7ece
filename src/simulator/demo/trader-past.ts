import { decimalOfInteger, sumDecimals, type Decimal } from '../../lib/decimal.ts'
import { clamp, type Random } from '../../lib/random.ts'
import { DAY_MS, DAYS_KEPT, type SymbolSetting, type Trader } from '../copy/trader.ts'

const ORDERS_A_DAY_MAX = 8
const DAY_SPREAD = 0.02
const DAY_SPREAD_MAX = 0.05
const FOLLOWERS_MAX = 300
const MONEY_DECIMALS = 2

/**
 * The profits end in the trader's balance; the rest of it is the initial capital. @param copied
 * symbol opened for copying
 */
export function writeTraderPast(
  trader: Trader,
  copied: SymbolSetting | undefined,
  random: Random,
): void {
  const opening = trader.capital
  const profits = Array.from({ length: DAYS_KEPT }, () => drawProfit(random, opening))
  trader.totalProfit = sumDecimals(profits)
  trader.capital = opening.minus(trader.totalProfit)
  let equity = trader.capital
  for (const [index, profit] of profits.entries()) {
    trader.days.push({ startAt: trader.today - (DAYS_KEPT - index) * DAY_MS, equity, profit })
    equity = equity.plus(profit)
  }
  const orders = DAYS_KEPT * (1 + random.integer(ORDERS_A_DAY_MAX))
  trader.gains = Math.round(orders * (0.4 + random.next() * 0.3))
  trader.losses = orders - trader.gains
  trader.followersEver = 1 + random.integer(FOLLOWERS_MAX)
  trader.followersNow = random.integer(trader.followersEver + 1)
  if (copied !== undefined) trader.settings = new Map([[copied.symbol, copied]])
}

function drawProfit(random: Random, opening: Decimal): Decimal {
  const share = clamp(random.normal() * DAY_SPREAD, DAY_SPREAD_MAX)
  // A month of the worst days must not cost more than the balance.
  const perMille = decimalOfInteger(Math.round((share * 1000) / 2))
  return opening.times(perMille).div('1000').round(MONEY_DECIMALS)
}

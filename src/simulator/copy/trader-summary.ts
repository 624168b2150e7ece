import { decimal, decimalOfInteger, ZERO, type Decimal } from '../../lib/decimal.ts'
import type { WireResponseOf } from '../../protocol/endpoints.ts'
import type { FuturesResults } from './futures-results.ts'
import { negated } from '../wallet/rounding.ts'
import type { Trader, TraderDay } from './trader.ts'

const WEEK_DAYS = 7
const RATE_DECIMALS = 6
const PERCENT_DECIMALS = 2

/**
 * Document: Copy trader summary. Ratios are in percent: ROI over the capital, a day's rate over its
 * opening equity. The dollar sign is the sample's.
 */
export function toSummary(
  trader: Trader,
  present: FuturesResults,
): WireResponseOf<'copyOrderTotalDetail'> {
  const { days, gains, losses } = trader
  const week = days.slice(-WEEK_DAYS)
  const total = trader.totalProfit.plus(present.profit).minus(trader.profitTaken)
  const orders = gains + losses
  return {
    roi: percent(total, trader.capital, PERCENT_DECIMALS),
    tradingOrderNum: String(orders),
    totalFollowerNum: String(trader.followersEver),
    currentFollowerNum: String(trader.followersNow),
    totalpl: dollars(total),
    gainNum: shareOf(gains, orders),
    lossNum: shareOf(losses, orders),
    winRate: shareOf(gains, orders),
    totalEquity: present.equity.round(PERCENT_DECIMALS).toString(),
    tradingPairsAvailableList: [...trader.settings.keys()],
    lastWeekRoiList: week.map(toRate),
    lastMonthRoiList: days.map(toRate),
    lastWeekProfitList: week.map(toProfit),
    lastMonthProfitList: days.map(toProfit),
  }
}

function toRate({ startAt, profit, equity }: TraderDay) {
  return { rate: percent(profit, equity, RATE_DECIMALS), ctime: String(startAt) }
}

function toProfit({ startAt, profit }: TraderDay) {
  return { amount: profit.toString(), ctime: String(startAt) }
}

function shareOf(part: number, whole: number): string {
  return percent(decimalOfInteger(part), decimalOfInteger(whole), PERCENT_DECIMALS)
}

function percent(part: Decimal, whole: Decimal, decimals: number): string {
  if (whole.lte(ZERO)) return '0'
  return part.times(decimal('100')).div(whole).round(decimals).toString()
}

function dollars(amount: Decimal): string {
  const rounded = amount.round(PERCENT_DECIMALS)
  return rounded.lt(ZERO) ? `-$${negated(rounded).toString()}` : `$${rounded.toString()}`
}

import { decimal, decimalOfInteger, sumDecimals, ZERO, type Decimal } from '../../lib/decimal.ts'
import { type Random } from '../../lib/random.ts'
import { type ProductType } from '../../protocol/values.ts'

/** What a trader's followers take over of a symbol. Ratios in percent, 1 to 400, or none set. */
export interface SymbolSetting {
  readonly symbol: string
  readonly productType: ProductType
  readonly stopSurplusRatio: string | undefined
  readonly stopLossRatio: string | undefined
}

/** A day that is over. Amounts are USDT, exact. */
export interface TraderDay {
  /** Unix ms: midnight where the platform's day begins. */
  readonly startAt: number
  /** What the account had when the day began. */
  readonly equity: Decimal
  readonly profit: Decimal
}

/** What the service keeps of a trader. Bounded: the last {@link DAYS_KEPT} days, one setting a listed symbol. */
export interface Trader {
  /** Where the day that is not over began, Unix ms. */
  today: number
  readonly days: TraderDay[]
  /** Profit before today since the trader began, and what it began with: USDT. */
  totalProfit: Decimal
  readonly capital: Decimal
  gains: number
  losses: number
  followersEver: number
  followersNow: number
  /** How much of the futures account's own profit is in the days already: USDT. */
  profitTaken: Decimal
  /** The last trade whose result is counted already. */
  tradeTaken: number
  /** By symbol. */
  readonly settings: Map<string, SymbolSetting>
}

const DAY_MS = 86_400_000
/** The platform's days begin at midnight of UTC+8, as the document's sample of a trader shows. */
const DAY_OFFSET_MS = 8 * 3_600_000
/** Document: lists of the last week and the last month. */
const DAYS_KEPT = 30
/** A trader's past: a few orders a day, and days that seldom move the account by more than a few percent. */
const ORDERS_A_DAY_MAX = 8
const DAY_SPREAD = 0.02
const DAY_SPREAD_MAX = 0.05
const FOLLOWERS_MAX = 300
/** Followers that may come, and go, in a day. */
const FOLLOWERS_A_DAY_MAX = 3
const MONEY_DECIMALS = 2

export function dayStart(at: number): number {
  return Math.floor((at + DAY_OFFSET_MS) / DAY_MS) * DAY_MS - DAY_OFFSET_MS
}

/**
 * A trader with a month behind it that ends in the account's opening balance: the past days' profits are
 * shares of it, and what is left is the capital that it began with.
 * @param opening USDT; a trader without any has a past without profit.
 */
export function createTrader(random: Random, startAt: number, opening: Decimal): Trader {
  const today = dayStart(startAt)
  const profits = Array.from({ length: DAYS_KEPT }, () => drawProfit(random, opening))
  const totalProfit = sumDecimals(profits)
  const capital = opening.minus(totalProfit)
  const days: TraderDay[] = []
  let equity = capital
  for (const [index, profit] of profits.entries()) {
    days.push({ startAt: today - (DAYS_KEPT - index) * DAY_MS, equity, profit })
    equity = equity.plus(profit)
  }
  const orders = DAYS_KEPT * (1 + random.integer(ORDERS_A_DAY_MAX))
  const gains = Math.round(orders * (0.4 + random.next() * 0.3))
  const followersEver = 1 + random.integer(FOLLOWERS_MAX)
  return {
    today,
    days,
    totalProfit,
    capital,
    gains,
    losses: orders - gains,
    followersEver,
    followersNow: random.integer(followersEver + 1),
    profitTaken: ZERO,
    tradeTaken: 0,
    settings: new Map(),
  }
}

/** Days are closed one by one up to `now`; what the account earned since the last is the first one's. */
export function closeDays(
  trader: Trader,
  { now, profit, random }: { readonly now: number; readonly profit: Decimal; readonly random: Random },
): void {
  const { days } = trader
  const today = dayStart(now)
  while (trader.today < today) {
    const earned = profit.minus(trader.profitTaken)
    days.push({ startAt: trader.today, equity: trader.capital.plus(trader.totalProfit), profit: earned })
    trader.totalProfit = trader.totalProfit.plus(earned)
    trader.profitTaken = profit
    const day = random.fork(String(trader.today))
    const came = day.integer(FOLLOWERS_A_DAY_MAX + 1)
    const went = Math.min(trader.followersNow, day.integer(FOLLOWERS_A_DAY_MAX + 1))
    trader.followersEver += came
    trader.followersNow += came - went
    trader.today += DAY_MS
  }
  days.splice(0, Math.max(0, days.length - DAYS_KEPT))
}

function drawProfit(random: Random, opening: Decimal): Decimal {
  const share = Math.max(-DAY_SPREAD_MAX, Math.min(DAY_SPREAD_MAX, random.normal() * DAY_SPREAD))
  // A month of the worst days would cost more than there is: the share is of the opening balance, and small.
  const perMille = decimalOfInteger(Math.round((share * 1000) / 2))
  return opening.times(perMille).div(decimal('1000')).round(MONEY_DECIMALS)
}

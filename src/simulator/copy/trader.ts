import { ZERO, type Decimal } from '../../lib/decimal.ts'
import type { Random } from '../../lib/random.ts'
import type { ProductType } from '../../protocol/values.ts'
import type { PlacedCodec } from '../store/stored-rows.ts'

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
  readonly uid: string
  /** Where the day that is not over began, Unix ms. */
  today: number
  readonly days: TraderDay[]
  /** Profit before today since the trader began, and what it began with: USDT. */
  totalProfit: Decimal
  capital: Decimal
  gains: number
  losses: number
  followersEver: number
  followersNow: number
  /** How much of the futures account's own profit is in the days already: USDT. */
  profitTaken: Decimal
  /** The last trade whose result is counted already. */
  tradeTaken: number
  /** By symbol. */
  settings: ReadonlyMap<string, SymbolSetting>
}

export const DAY_MS = 86_400_000
/** The platform's days begin at midnight of UTC+8, as the document's sample of a trader shows. */
const DAY_OFFSET_MS = 8 * 3_600_000
/** Document: lists of the last week and the last month. */
export const DAYS_KEPT = 30
/** Followers that may come, and go, in a day. */
const FOLLOWERS_A_DAY_MAX = 3

export function dayStart(at: number): number {
  return Math.floor((at + DAY_OFFSET_MS) / DAY_MS) * DAY_MS - DAY_OFFSET_MS
}

/** A trader with nothing behind it. @param opening USDT. */
export function createTrader(uid: string, startAt: number, opening: Decimal): Trader {
  return {
    uid,
    today: dayStart(startAt),
    days: [],
    totalProfit: ZERO,
    capital: opening,
    gains: 0,
    losses: 0,
    followersEver: 0,
    followersNow: 0,
    profitTaken: ZERO,
    tradeTaken: 0,
    settings: new Map(),
  }
}

/** Days are closed one by one up to `now`; what the account earned since the last is the first one's. */
export function closeDays(
  trader: Trader,
  {
    now,
    profit,
    random,
  }: { readonly now: number; readonly profit: Decimal; readonly random: Random },
): void {
  const { days } = trader
  const today = dayStart(now)
  while (trader.today < today) {
    const earned = profit.minus(trader.profitTaken)
    days.push({
      startAt: trader.today,
      equity: trader.capital.plus(trader.totalProfit),
      profit: earned,
    })
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

type TraderRow = Omit<Trader, 'settings'> & { readonly settings: readonly SymbolSetting[] }

export const TRADERS: PlacedCodec<Map<string, Trader>, Trader, TraderRow> = {
  table: 'traders',
  id: ({ uid }) => uid,
  decimals: ['totalProfit', 'capital', 'profitTaken', 'equity', 'profit'],
  write: (trader) => ({ ...trader, settings: [...trader.settings.values()] }),
  // An account may have ceased to be a trader.
  place(traders, row) {
    if (!traders.has(row.uid)) return
    const settings = new Map(row.settings.map((setting) => [setting.symbol, setting]))
    traders.set(row.uid, { ...row, settings })
  },
}

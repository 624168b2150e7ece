import { ZERO, type Decimal } from '../../lib/decimal.ts'
import type { Random } from '../../lib/random.ts'
import type { ProductType } from '../../protocol/values.ts'
import type { PlacedCodec } from '../store/stored-rows.ts'

/** Settings that followers copy for a symbol. Ratios are in percent, 1 to 400, or undefined. */
export interface SymbolSetting {
  readonly symbol: string
  readonly productType: ProductType
  readonly stopSurplusRatio: string | undefined
  readonly stopLossRatio: string | undefined
}

/** A day that has ended. Amounts are exact USDT. */
export interface TraderDay {
  /** Midnight at which the platform's day begins, Unix ms. */
  readonly startAt: number
  /** Equity at the beginning of the day. */
  readonly equity: Decimal
  readonly profit: Decimal
}

/**
 * The service's record of a trader. Bounded: the last {@link DAYS_KEPT} days, one setting for each
 * listed symbol.
 */
export interface Trader {
  readonly uid: string
  /** Start of the current day, Unix ms. */
  today: number
  readonly days: TraderDay[]
  /** Total profit before today, and the initial capital, USDT. */
  totalProfit: Decimal
  capital: Decimal
  gains: number
  losses: number
  followersEver: number
  followersNow: number
  /** Part of the futures account's own profit that is already in the days, USDT. */
  profitTaken: Decimal
  /** The last trade whose result is counted. */
  tradeTaken: number
  /** Keyed by symbol. */
  settings: ReadonlyMap<string, SymbolSetting>
}

export const DAY_MS = 86_400_000
/** The platform's days begin at midnight of UTC+8, as the document's sample of a trader shows. */
const DAY_OFFSET_MS = 8 * 3_600_000
/** Document: lists of the last week and the last month. */
export const DAYS_KEPT = 30
/** Maximum followers that join, or leave, in a day. */
const FOLLOWERS_A_DAY_MAX = 3

export function dayStart(at: number): number {
  return Math.floor((at + DAY_OFFSET_MS) / DAY_MS) * DAY_MS - DAY_OFFSET_MS
}

/** Creates a trader without a past. @param opening USDT. */
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

/** Closes days one by one up to `now`. Profit since the last close belongs to the first of them. */
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
  // A stored trader may no longer have the role.
  place(traders, row) {
    if (!traders.has(row.uid)) return
    const settings = new Map(row.settings.map((setting) => [setting.symbol, setting]))
    traders.set(row.uid, { ...row, settings })
  },
}

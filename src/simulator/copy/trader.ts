import { ZERO, type Decimal } from '../../lib/decimal.ts'
import type { Random } from '../../lib/random.ts'
import type { WireProductType } from '../../protocol/values.ts'
import type { PlacedCodec } from '../store/stored-rows.ts'

export interface SymbolSetting {
  readonly symbol: string
  readonly productType: WireProductType
  readonly stopSurplusRatio: string | undefined
  readonly stopLossRatio: string | undefined
}

export interface TraderDay {
  readonly startAt: number
  readonly equity: Decimal
  readonly profit: Decimal
}

export interface Trader {
  readonly uid: string
  today: number
  readonly days: TraderDay[]
  totalProfit: Decimal
  capital: Decimal
  gains: number
  losses: number
  followersEver: number
  followersNow: number
  /** USDT that the futures account had earned when the last day closed. */
  profitTaken: Decimal
  tradeTaken: number
  settings: ReadonlyMap<string, SymbolSetting>
}

export const DAY_MS = 86_400_000
const DAY_OFFSET_MS = 8 * 3_600_000
export const DAYS_KEPT = 30
const FOLLOWERS_A_DAY_MAX = 3

export function dayStart(at: number): number {
  return Math.floor((at + DAY_OFFSET_MS) / DAY_MS) * DAY_MS - DAY_OFFSET_MS
}

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

/** Profit since the last close counts for the first closed day. */
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
  place(traders, row) {
    if (!traders.has(row.uid)) return
    const settings = new Map(row.settings.map((setting) => [setting.symbol, setting]))
    traders.set(row.uid, { ...row, settings })
  },
}

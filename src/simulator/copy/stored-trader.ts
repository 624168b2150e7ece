import { decimal } from '../../lib/decimal.ts'
import { type SymbolSetting, type Trader, type TraderDay } from './trader.ts'

type Texts<Entity, Field extends keyof Entity> = Omit<Entity, Field> & Readonly<Record<Field, string>>

type StoredTrader = Texts<Omit<Trader, 'days' | 'settings'>, 'totalProfit' | 'capital' | 'profitTaken'> & {
  readonly days: readonly Texts<TraderDay, 'equity' | 'profit'>[]
  readonly settings: readonly SymbolSetting[]
}

export function formatTrader(trader: Trader): string {
  return JSON.stringify({ ...trader, settings: [...trader.settings.values()] })
}

/** Revives what {@link formatTrader} made of it. */
export function parseTrader(json: string): Trader {
  const row = JSON.parse(json) as StoredTrader
  return {
    ...row,
    totalProfit: decimal(row.totalProfit),
    capital: decimal(row.capital),
    profitTaken: decimal(row.profitTaken),
    days: row.days.map((day) => ({ ...day, equity: decimal(day.equity), profit: decimal(day.profit) })),
    settings: new Map(
      row.settings.map((setting) => [
        setting.symbol,
        // JSON leaves undefined out.
        { ...setting, stopSurplusRatio: setting.stopSurplusRatio, stopLossRatio: setting.stopLossRatio },
      ]),
    ),
  }
}

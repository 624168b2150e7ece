import { type PlacedCodec } from '../store/stored-rows.ts'
import { type SymbolSetting, type Trader } from './trader.ts'

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

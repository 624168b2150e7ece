import { FLAT } from '../../domain/position.ts'
import type { AssignedRecord } from '../../domain/record.ts'
import { formatOnGrid } from '../../lib/grid.ts'
import type { Book } from '../book/book.ts'
import { announce, type Core, record } from '../state/core.ts'

/** Gives a strategy what no strategy holds of an instrument, at the price that the account has paid. */
export function assign(
  core: Core,
  assigned: Omit<AssignedRecord, 'kind' | 'at' | 'longTicks' | 'shortTicks'>,
  beyondLimit?: string,
): void {
  const { symbol, strategyId, holding, reason, by } = assigned
  const prices = pricesOf(core.book, symbol)
  record(
    core,
    { kind: 'assigned', at: core.now, symbol, strategyId, holding, ...prices, reason, by },
    true,
  )
  const lot = core.settings.instruments.get(symbol)?.lot
  const sizeOf = (lots: number): string => (lot ? formatOnGrid(lot, lots) : `${lots} lots`)
  announce(core, 'warn', 'position.assigned', {
    symbol,
    strategyId,
    ...(holding.longLots > 0 && { long: sizeOf(holding.longLots) }),
    ...(holding.shortLots > 0 && { short: sizeOf(holding.shortLots) }),
    ...(beyondLimit !== undefined && { beyondLimit }),
    reason,
    by,
  })
}

/** The account's average price of each side; undefined where its fills and the exchange do not say it. */
export function pricesOf(
  book: Book,
  symbol: string,
): Pick<AssignedRecord, 'longTicks' | 'shortTicks'> {
  const entry = book.entries.get(symbol)
  const { longLots, shortLots } = book.account.get(symbol) ?? FLAT
  if (entry === undefined) return {}
  return {
    ...(longLots > 0 && entry.longLots >= longLots && { longTicks: entry.longTicks }),
    ...(shortLots > 0 && entry.shortLots >= shortLots && { shortTicks: entry.shortTicks }),
  }
}

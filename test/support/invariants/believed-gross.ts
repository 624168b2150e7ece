import { tradesAs } from '../../../src/domain/order.ts'
import { accountHoldingOf } from '../../../src/engine/book/book.ts'
import { floatOnGrid } from '../../../src/lib/grid.ts'
import { type World } from '../world/world.ts'

/**
 * The gross that the account could reach by its book, in quote coin, without some orders. Trades of
 * others may exceed it, and unread fills count both as held and as open.
 */
export function believedGross(
  { process, plan, settings }: World,
  priceOf: (symbol: string) => number,
  without: ReadonlySet<string>,
): number {
  const { book } = process.engine ?? {}
  if (!book) return 0
  let gross = 0
  for (const [symbol, { lot }] of settings.instruments) {
    const { longLots, shortLots } = accountHoldingOf(book, symbol)
    const adding = { buy: 0, sell: 0 }
    for (const { terms, filledLots } of book.open.get(symbol)?.values() ?? []) {
      const closes = plan.positionMode === 'hedge_mode' && terms.action.startsWith('close')
      if (!closes && !without.has(terms.clientOid))
        adding[tradesAs(terms.action)] += terms.lots - filledLots
    }
    const [long, short] = [longLots + adding.buy, shortLots + adding.sell]
    const worst =
      plan.positionMode === 'hedge_mode'
        ? long + short
        : Math.max(long - shortLots, short - longLots, 0)
    gross += priceOf(symbol) * floatOnGrid(lot, worst)
  }
  return gross
}

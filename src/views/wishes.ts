import type { AccountStatusView } from '../control/views.ts'
import type { StrategyWait } from '../domain/strategy-wait.ts'
import type { JournalRecord } from '../domain/record.ts'
import { pairOf, placesOf } from '../engine/book/book.ts'
import { showOnGrid } from '../lib/grid.ts'
import type { ShownAccount } from './shown-account.ts'

type ShownWish = AccountStatusView['strategies'][number]['wants'][number]

/** When each strategy last wanted something else on an instrument, in this run. */
export class WishTimes {
  /** Keyed by strategy and symbol; Unix ms. */
  readonly #since = new Map<string, number>()
  readonly #waits = new Map<string, readonly StrategyWait[]>()

  observe(record: JournalRecord): void {
    if (record.kind !== 'decision') return
    const { strategyId, at, quotes = [], targets = [], places = [] } = record
    for (const { symbol } of [...quotes, ...targets, ...places])
      this.#since.set(pairOf(strategyId, symbol), at)
  }

  hearWaits(strategyId: string, waits: readonly StrategyWait[]): void {
    this.#waits.set(strategyId, waits)
  }

  /** The strategy said it at its last decision. */
  waitsOf(strategyId: string): readonly StrategyWait[] {
    return this.#waits.get(strategyId) ?? []
  }

  since(pair: string): number | undefined {
    return this.#since.get(pair)
  }
}

export function viewWishes(
  account: Pick<ShownAccount, 'book' | 'grids' | 'wishes'>,
  id: string,
  symbols: readonly string[],
): ShownWish[] {
  return symbols.map((symbol) => {
    const since = account.wishes?.since(pairOf(id, symbol))
    const what = describeWish(account, id, symbol)
    return { symbol, what, since: since === undefined ? null : Math.round(since) }
  })
}

function describeWish(
  { book, grids }: Pick<ShownAccount, 'book' | 'grids'>,
  id: string,
  symbol: string,
): string {
  const pair = pairOf(id, symbol)
  const target = book.targets.get(pair)
  const tag = book.targetTags.get(pair)
  const lot = grids.get(symbol)?.lot
  const size = (lots: number): string => (lot ? showOnGrid(lot, lots) : `${lots} lots`)
  const levels = book.quotes.get(pair)?.length ?? 0
  const places = [...placesOf(book, id, symbol)].length
  const parts = [
    ...(target === undefined ? [] : [`${size(target)}${tag === undefined ? '' : ` as ${tag}`}`]),
    ...(levels === 0 ? [] : [`a ladder of ${levels}`]),
    ...(places === 0 ? [] : [`${places} by name`]),
  ]
  return parts.length === 0 ? 'nothing' : parts.join(', ')
}

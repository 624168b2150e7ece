import { addFill, NO_MONEY, toFillMoney } from '../domain/fill-money.ts'
import { type Book, pairKey, splitPair } from '../engine/book/book.ts'
import { OwnProfits, type OwnShare } from '../engine/book/own-profits.ts'
import type { BookedFill } from '../journal/booking.ts'
import { ZERO } from '../lib/decimal.ts'

/** Unix ms; the end is excluded. */
export interface ProfitRows {
  readonly allFills: () => Iterable<BookedFill>
  readonly book: Book
  readonly since?: number | undefined
  readonly until?: number | undefined
}

export type OwnResult = Pick<OwnShare, 'profit' | 'fees'>

export interface StrategyProfit extends OwnResult {
  readonly strategyId: string
  readonly coin: string
  readonly unexplained: readonly string[]
  readonly taken: OwnResult
}

interface PairSum {
  readonly coin: string
  stated: OwnResult
  own: OwnResult
  taken: OwnResult
}

const NOTHING: OwnResult = { profit: ZERO, fees: ZERO }

/** Earlier fills give the prices at which lots were bought. */
export function listStrategyProfits(rows: ProfitRows): readonly StrategyProfit[] {
  const counting = new OwnProfits(rows.book)
  const profits = new Map<string, StrategyProfit>()
  for (const [pair, { coin, stated, own, taken }] of sumPairs(rows, counting)) {
    const [strategyId, symbol] = splitPair(pair)
    const isExplained = counting.explains(pair)
    const key = JSON.stringify([strategyId, coin])
    const known = profits.get(key) ?? { ...NOTHING, unexplained: [], taken: NOTHING }
    profits.set(key, {
      strategyId,
      coin,
      ...plus(known, isExplained ? own : stated),
      unexplained: isExplained ? known.unexplained : [...known.unexplained, symbol],
      taken: isExplained ? plus(known.taken, taken) : known.taken,
    })
  }
  return [...profits.values()]
}

function sumPairs(
  { allFills, since = 0, until = Number.POSITIVE_INFINITY }: ProfitRows,
  counting: OwnProfits,
): ReadonlyMap<string, PairSum> {
  const pairs = new Map<string, PairSum>()
  const sumOf = (pair: string, coin: string): PairSum => {
    const known = pairs.get(pair) ?? { coin, stated: NOTHING, own: NOTHING, taken: NOTHING }
    pairs.set(pair, known)
    return known
  }
  for (const fill of allFills()) {
    const shares = counting.add(fill)
    if (fill.at < since || fill.at >= until) continue
    for (const share of shares) {
      const sum = sumOf(share.pair, fill.coin)
      sum.own = plus(sum.own, share)
      if (fill.owner !== 'strategy') sum.taken = plus(sum.taken, share)
    }
    if (fill.owner !== 'strategy') continue
    const sum = sumOf(pairKey(fill.strategyId, fill.symbol), fill.coin)
    sum.stated = plus(sum.stated, addFill(NO_MONEY, toFillMoney(fill)))
  }
  return pairs
}

function plus(one: OwnResult, other: OwnResult): OwnResult {
  return { profit: one.profit.plus(other.profit), fees: one.fees.plus(other.fees) }
}

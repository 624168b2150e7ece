import { addFill, NO_MONEY, toFillMoney } from '../../domain/fill-money.ts'
import { splitPair } from '../../engine/book/book.ts'
import { OwnProfits, type OwnShare, pairOfFill } from '../../engine/book/own-profits.ts'
import { ZERO } from '../../lib/decimal.ts'
import type { OpenedRows } from './journal-rows.ts'

export type Made = Pick<OwnShare, 'profit' | 'fees'>

/** The profit that a strategy has made of its own lots. */
export interface StrategyProfit extends Made {
  readonly strategyId: string
  readonly coin: string
  /** Instruments on which its fills do not explain what it holds: there the figures are the exchange's. */
  readonly unexplained: readonly string[]
  /** The part of it that fills of nobody have brought, such as a liquidation. */
  readonly taken: Made
}

/** The profit that a strategy has made on an instrument. */
interface PairSum {
  readonly coin: string
  stated: Made
  own: Made
  taken: Made
}

const NOTHING: Made = { profit: ZERO, fees: ZERO }

/** Counts what the strategies have made within the span. All fills before it are read too: they say at which price lots were bought. */
export function listStrategyProfits(rows: OpenedRows): readonly StrategyProfit[] {
  const counting = new OwnProfits(rows.book())
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
  { allFills, since = 0, until = Number.POSITIVE_INFINITY }: OpenedRows,
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
    const sum = sumOf(pairOfFill(fill), fill.coin)
    sum.stated = plus(sum.stated, addFill(NO_MONEY, toFillMoney(fill)))
  }
  return pairs
}

function plus(one: Made, other: Made): Made {
  return { profit: one.profit.plus(other.profit), fees: one.fees.plus(other.fees) }
}

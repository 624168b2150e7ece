import type { AccountMark } from '../../journal/curves.ts'
import type { BookedRow } from '../../journal/booking.ts'
import { type Decimal, decimal, ZERO } from '../../lib/decimal.ts'
import { netOf } from './statement-sums.ts'

/**
 * Clocks differ and fills are read late, so a mark may count fills that are dated a little later,
 * and lack some that are dated earlier.
 */
export const AROUND_MS = 120_000

/** Rows that a mark may count beyond those which their times give it. */
const STEPS_MAX = 40

export interface SpanEnd {
  readonly mark: AccountMark
  readonly at: number
  readonly rows: readonly BookedRow[]
}

export interface NotedProfit {
  readonly opening: Decimal
  readonly closing: Decimal
}

interface Prefix {
  /** Amount that the mark counts beyond the end of the span; negative if it counts less. */
  readonly sum: Decimal
  /** How far the sum is from what the times of the rows say. */
  readonly distance: number
}

/**
 * A mark is noted moments after a period began, and may count its first fills already. Those rows
 * are chosen with which the period made what its rows say; if there are none, the rows before the
 * mark.
 */
export function findMade(opening: SpanEnd, closing: SpanEnd, made: Decimal): NotedProfit {
  const [begin, end] = [decimal(opening.mark.made), decimal(closing.mark.made)]
  const expected = end.minus(begin).minus(made)
  const atEnd = new Map<string, Prefix>()
  for (const prefix of listPrefixes(closing)) {
    const key = prefix.sum.toString()
    const known = atEnd.get(key)
    if (known === undefined || known.distance > prefix.distance) atEnd.set(key, prefix)
  }
  let best: (NotedProfit & { readonly distance: number }) | undefined
  for (const before of listPrefixes(opening)) {
    const after = atEnd.get(expected.plus(before.sum).toString())
    if (after === undefined) continue
    const distance = before.distance + after.distance
    if (best !== undefined && best.distance <= distance) continue
    best = { opening: begin.minus(before.sum), closing: end.minus(after.sum), distance }
  }
  return (
    best ?? {
      opening: begin.minus(sumByTime(opening)),
      closing: end.minus(sumByTime(closing)),
    }
  )
}

function sumByTime({ mark, at: end, rows }: SpanEnd): Decimal {
  return rows
    .filter(({ at }) => at >= end && at < mark.at)
    .reduce((sum, row) => sum.plus(netOf(row)), ZERO)
}

/** Fills and funding payments are read apart, so a mark may count more of one kind. */
function listPrefixes({ mark, at: end, rows }: SpanEnd): readonly Prefix[] {
  const prefixesOf = (kind: BookedRow['kind']): readonly Prefix[] => {
    const ofKind = rows.filter((row) => row.kind === kind)
    const byTime = ofKind.filter(({ at }) => at < mark.at).length
    const earlier = ofKind.filter(({ at }) => at < end)
    let sum = earlier.reduce((left, row) => left.minus(netOf(row)), ZERO)
    const prefixes: Prefix[] = [{ sum, distance: byTime }]
    for (const [index, row] of ofKind.entries()) {
      sum = sum.plus(netOf(row))
      prefixes.push({ sum, distance: Math.abs(index + 1 - byTime) })
    }
    return prefixes.filter(({ distance }) => distance <= STEPS_MAX)
  }
  const fundings = prefixesOf('funding')
  return prefixesOf('fill').flatMap((fills) =>
    fundings.map((funding) => ({
      sum: fills.sum.plus(funding.sum),
      distance: fills.distance + funding.distance,
    })),
  )
}

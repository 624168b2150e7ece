import type { Watermark } from '../../domain/loss-limits.ts'
import type { ReleasedRecord } from '../../domain/record.ts'
import { type ModeReason, type Restriction, strategyScope } from '../../domain/trading-mode.ts'
import { applyMove } from './allocation.ts'
import { splitPair, type WritableBook } from './book.ts'

/** After the release of a loss limit, losses are counted from now on. */
export function forgetLosses(
  book: WritableBook,
  { scope, code }: Restriction,
  keepsPeak: ReleasedRecord['peak'],
): void {
  if (code === 'losingStreak') return forgetStreak(book, scope)
  const watermark = book.watermarks.get(scope)
  if (code === 'dailyLoss' && watermark) book.watermarks.set(scope, { ...watermark, dayNet: null })
  if (OF_DRAWDOWN.has(code)) forgetPeak(book, scope, keepsPeak === 'kept')
}

const OF_DRAWDOWN: ReadonlySet<ModeReason> = new Set(['drawdown', 'drawdownFlatten'])

/** All steps of the scope's drawdown count from a new peak; the last one does not, where it keeps its own. */
export function forgetPeak(book: WritableBook, scope: string, isLastKept: boolean): void {
  const known = book.watermarks.get(scope)
  if (!known) return
  const { lastPeak: _lastPeak, ...watermark } = known
  const kept = isLastKept ? lastPeakOf(known) : undefined
  book.watermarks.set(scope, {
    ...watermark,
    peak: null,
    ...(kept !== undefined && { lastPeak: kept }),
  })
}

/** From where the last step of a drawdown counts; undefined: it is to be taken anew. */
export function lastPeakOf({ peak, lastPeak }: Watermark): number | undefined {
  if (peak === null || lastPeak === undefined) return peak ?? lastPeak
  return Math.max(peak, lastPeak)
}

function forgetStreak(book: WritableBook, scope: string): void {
  for (const pair of Array.from(book.ownTrades.keys())) {
    const [strategyId, symbol] = splitPair(pair)
    if (strategyScope(strategyId) === scope)
      applyMove(book, symbol, { kind: 'streakForgotten', strategyId })
  }
}

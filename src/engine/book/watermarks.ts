import { type ModeReason, type Restriction, strategyScope } from '../../domain/trading-mode.ts'
import { applyMove } from './allocation.ts'
import { splitPair, type WritableBook } from './book.ts'

/** After the release of a loss limit, losses are counted from now on. */
export function forgetLosses(book: WritableBook, { scope, code }: Restriction): void {
  if (code === 'losingStreak') return forgetStreak(book, scope)
  const part = PARTS[code]
  const watermark = book.watermarks.get(scope)
  if (part !== undefined && watermark) book.watermarks.set(scope, { ...watermark, [part]: null })
}

const PARTS: { readonly [code in ModeReason]?: 'dayNet' | 'peak' } = {
  dailyLoss: 'dayNet',
  drawdown: 'peak',
  drawdownFlatten: 'peak',
}

function forgetStreak(book: WritableBook, scope: string): void {
  for (const pair of [...book.ownTrades.keys()]) {
    const [strategyId, symbol] = splitPair(pair)
    if (strategyScope(strategyId) === scope) applyMove(book, symbol, { kind: 'streakForgotten', strategyId })
  }
}

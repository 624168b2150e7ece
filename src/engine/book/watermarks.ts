import type { ModeReason, Restriction } from '../../domain/trading-mode.ts'
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
  for (const [pair, trades] of book.ownTrades) {
    if (`strategy:${splitPair(pair)[0]}` === scope) book.ownTrades.set(pair, { ...trades, lostInRow: 0 })
  }
  // Where the allocation is worked out again, the streak begins anew as well.
  for (const [symbol, { trades, ...unsettled }] of book.unsettled) {
    const anew = trades?.map(([pair, known]) => {
      const isOfScope = `strategy:${splitPair(pair)[0]}` === scope
      return [pair, isOfScope ? { ...known, lostInRow: 0 } : known] as const
    })
    if (anew) book.unsettled.set(symbol, { ...unsettled, trades: anew })
  }
}

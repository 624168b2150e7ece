import type { FillsQuery, JournalFillsView } from '../control/detail-views.ts'
import type { PositionMode } from '../domain/instrument.ts'
import { rebuildBook } from '../engine/book/book-rows.ts'
import type { BookedFill } from '../journal/booking.ts'
import type { JournalReader } from '../journal/journal-reader.ts'

export function readLastFills(
  reader: JournalReader,
  positionMode: PositionMode,
  query: FillsQuery,
): JournalFillsView {
  const sequence = reader.lastSequence()
  const { epoch: run } = rebuildBook(reader.contents(), positionMode)
  return { journal: { run, sequence }, fills: listLastFills(reader, query) }
}

/** Reads backwards, so that a few of many cost little. The oldest is first. */
export function listLastFills(
  reader: Pick<JournalReader, 'bookings'>,
  { strategy, symbol, since, until, limit }: FillsQuery,
): BookedFill[] {
  const found: BookedFill[] = []
  if (limit === 0) return found
  for (const fill of reader.bookings('fill', { since, until, newestFirst: true })) {
    if (fill.kind !== 'fill') continue
    if (fill.strategyId !== (strategy ?? fill.strategyId)) continue
    if (fill.symbol !== (symbol ?? fill.symbol)) continue
    found.push(fill)
    if (found.length >= limit) break
  }
  return found.toReversed()
}

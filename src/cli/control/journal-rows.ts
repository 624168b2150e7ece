import type { ConfigOptions, DaemonConfig } from '../../config/load-config.ts'
import { toInstruments } from '../../assembly/settings/engine-settings.ts'
import { MANUAL } from '../../domain/hand-order.ts'
import { didYouMeanEnd } from '../../lib/did-you-mean.ts'
import type { Book } from '../../engine/book/book.ts'
import type { JournalPlace } from '../../domain/journal-place.ts'
import { rebuildBook } from '../../engine/book/book-rows.ts'
import type { BookedFill } from '../../journal/booking.ts'
import { JournalReader } from '../../journal/journal-reader.ts'
import { newestJournal } from '../process/newest-journal.ts'
import { loadOperated } from '../operator/operated-config.ts'
import { type QuerySpan, type SpanOptions, toSpan } from '../process/options.ts'

export interface JournalSpanOptions extends ConfigOptions, SpanOptions {}

export interface OpenedRows extends QuerySpan {
  readonly config: DaemonConfig
  readonly file: string
  readonly fills: Iterable<BookedFill>
  readonly reader: JournalReader
  readonly journal: () => JournalPlace
  readonly allFills: () => Iterable<BookedFill>
  readonly book: () => Book
}

/** Reads the journal beside the daemon: a year of fills would delay its trading. */
export function withRows<Result>(
  options: JournalSpanOptions,
  use: (rows: OpenedRows) => Result,
): Result {
  const config = loadOperated(options)
  const file = newestJournal(config.state.directory)
  const reader = new JournalReader(file)
  const span = toSpan(options, config.calendar.timezone)
  try {
    const sequence = reader.lastSequence()
    const book = (): Book => rebuildBook(reader.contents(), config.account.positionMode)
    return use({
      ...span,
      config,
      file,
      reader,
      journal: () => ({ run: book().epoch, sequence }),
      fills: reader.bookings('fill', span) as Iterable<BookedFill>,
      allFills: () => reader.bookings('fill') as Iterable<BookedFill>,
      book,
    })
  } finally {
    reader.close()
  }
}

/** A strategy or an instrument that neither the configuration nor the journal names. */
export function listUnknown(
  { strategy, symbol }: { readonly strategy?: string; readonly symbol?: string },
  config: DaemonConfig,
  fills: Iterable<BookedFill>,
): readonly string[] {
  if (strategy === undefined && symbol === undefined) return []
  const strategies = new Set<string>(config.strategies.map(({ id }) => id))
  if (config.manual !== undefined) strategies.add(MANUAL)
  const symbols = new Set(toInstruments(config).keys())
  for (const fill of fills) {
    if (fill.strategyId !== '') strategies.add(fill.strategyId)
    symbols.add(fill.symbol)
  }
  return [
    ...objectTo(strategy, { what: 'strategies', known: [...strategies] }),
    ...objectTo(symbol, { what: 'instruments', known: [...symbols] }),
  ]
}

function objectTo(
  word: string | undefined,
  { what, known }: { readonly what: string; readonly known: readonly string[] },
): readonly string[] {
  if (word === undefined || known.includes(word)) return []
  const guess = didYouMeanEnd(word, known)
  return [
    `neither the configuration nor the journal knows ${word}${guess}; ${what}: ${known.join(', ')}`,
  ]
}

import { dirname } from 'node:path'
import type { DaemonConfig } from '../config/load-config.ts'
import { toRows } from '../domain/candles.ts'
import { isFlat } from '../domain/position.ts'
import { type Book, splitPair } from '../engine/book/book.ts'
import { rebuildBook } from '../engine/book/book-rows.ts'
import { createEngine } from '../engine/engine.ts'
import { TrustedClock } from '../exchange/clock/exchange-clock.ts'
import { LAYOUT } from '../journal/journal-layout.ts'
import { openSqliteJournal } from '../journal/sqlite-journal.ts'
import { isJournalFile, verifyJournal } from '../journal/verify-journal.ts'
import { openStoredJournal, type StoredJournal } from '../journal/journal-reader.ts'
import type { Clock } from '../lib/clock.ts'
import { Percentiles } from '../lib/percentiles.ts'
import { toEngineSettings } from '../assembly/settings/engine-settings.ts'
import type { ShownAccount, StoredPrice } from './shown-account.ts'
import { RecentActivity } from './recent-activity.ts'
import { RunStatistics } from './run-statistics.ts'
import { keepGrids } from '../assembly/state/known-grids.ts'
import { describeHolder, holdDirectory } from '../assembly/state/state-directory.ts'
import { isEmbedded, journalPlaceOf } from '../assembly/state/state-place.ts'

/** @throws Failure STATE_HELD if a daemon runs, and those of opening a journal */
export function readStoredAccount(config: DaemonConfig, file: string, clock: Clock): ShownAccount {
  const directory = dirname(file)
  const lock = holdDirectory(directory, describeHolder(config.name, clock.now()))
  try {
    const journal = openStored(config, directory)
    try {
      const settings = toEngineSettings(config, {
        salt: journal.salt,
        version: '',
        embedded: isEmbedded(config),
        shown: new Map(),
      })
      const book = rebuildBook(journal.contents, settings.positionMode)
      return {
        config,
        settings,
        book,
        sequence: journal.lastSequence,
        engine: createEngine(settings, book),
        trusted: new TrustedClock(clock),
        grids: keepGrids(directory, settings.instruments),
        state: 'atRest',
        fatal: undefined,
        tickers: undefined,
        positions: new Map(),
        storedPrices: findStoredPrices(book, journal, clock.now()),
        paused: new Map(),
        limiter: [],
        statistics: new RunStatistics(),
        journalTrouble: undefined,
        pace: {
          waits: new Percentiles(),
          batchesLate: 0,
          late: undefined,
        },
        recent: new RecentActivity({
          timeZone: config.calendar.timezone,
          now: () => clock.now(),
          booked: (kind, since) => journal.bookings(kind, { since }),
        }),
      }
    } finally {
      journal.close()
    }
  } finally {
    lock.release()
  }
}

const RECENT_MS = 30 * 86_400_000

function findStoredPrices(
  book: Book,
  journal: Pick<StoredJournal, 'bookings'>,
  now: number,
): ReadonlyMap<string, StoredPrice> {
  const prices = new Map<string, StoredPrice>()
  const note = (symbol: string, price: number, at: number): void => {
    if (price > 0 && at > (prices.get(symbol)?.at ?? 0)) prices.set(symbol, { price, at })
  }
  const held = [...book.account].filter(([, holding]) => !isFlat(holding))
  if (held.length === 0) return prices
  for (const [key, series] of book.candles) {
    const [openAt = 0, , , , close = 0] = toRows(series).at(-1) ?? []
    note(splitPair(key)[0], close, openAt + series.intervalMs)
  }
  // All fills are read only if the last month lacks a held instrument.
  for (const since of [now - RECENT_MS, 0]) {
    for (const row of journal.bookings('fill', { since }))
      if (row.kind === 'fill') note(row.symbol, Number(row.price), row.at)
    if (held.every(([symbol]) => prices.has(symbol))) break
  }
  return prices
}

function openStored(config: DaemonConfig, directory: string): StoredJournal {
  const place = journalPlaceOf(config, directory)
  if (config.journal !== undefined) return openStoredJournal(place.file)
  // Only writers migrate a journal.
  if (isJournalFile(place.file) && verifyJournal(place)?.layout !== LAYOUT)
    return openStoredJournal(place.file)
  const journal = openSqliteJournal({ ...place, keepSince: () => 0 })
  return {
    salt: journal.salt,
    contents: journal.load(),
    lastSequence: journal.lastSequence,
    bookings: (kind, span) => journal.bookings(kind, span),
    close: () => journal.close(),
  }
}

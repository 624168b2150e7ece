import { type JournalRecord } from '../../src/domain/record.ts'
import { toBookRows, rebuildBook } from '../../src/engine/book/book-rows.ts'
import { type Book, pairKey } from '../../src/engine/book/book.ts'
import { type RunSummary } from '../../src/views/summary.ts'
import { type BookedFill } from '../../src/journal/booking.ts'
import { JournalReader, openStoredJournal } from '../../src/journal/journal-reader.ts'
import { REPLICA_FILE } from '../../src/journal/journal-failures.ts'
import { openSqliteJournal } from '../../src/journal/sqlite-journal.ts'
import { decimal, sumDecimals } from '../../src/lib/decimal.ts'
import {
  compareFates,
  compareFills,
  compareMoney,
  comparePositions,
  compareSends,
  type Differences,
  findDisgraces,
} from '../support/invariants/book-comparison.ts'
import { type ExchangeTruth } from '../support/virtual/exchange-truth.ts'
import { INSTRUMENTS } from './crash-config.ts'
import { type Mode } from './scenario.ts'

export interface BooksToCompare {
  readonly journalFile: string
  readonly mode: Mode
  /** Of the last run, which ended in good order with `onStop: cancel`. */
  readonly summary: RunSummary
  readonly truth: ExchangeTruth
  readonly uid: string
  /** Unix ms: the exchange has forgotten what ended long before. */
  readonly rememberedSince?: number
}

/**
 * Three books of one account: the journal on disk, what the daemon said at its end, and the exchange's own
 * ledger. Compared order by order, fill by fill, and in money to the last digit.
 */
export function compareBooks(books: BooksToCompare): Differences {
  const { journalFile, mode, summary, truth, uid, rememberedSince } = books
  const money = truth.money.get(`${uid} USDT`)
  if (!money) throw new Error('the exchange has no such account')
  const { contents, booked } = readStored(journalFile, mode)
  const book = rebuildBook(contents, mode)
  const records = readAllRecords(journalFile)
  const folded = rebuildBook({ checkpoint: undefined, records }, mode)
  return [
    ...findDisgraces(records),
    ...compareSends(records, truth.orders.values()),
    ...compareFates(book, truth.orders.values(), rememberedSince),
    ...compareFills(records, truth),
    ...compareBooked(booked, { truth, book }),
    ...comparePositions(book, truth, Object.keys(INSTRUMENTS)),
    ...compareMoney(book, money),
    ...compareSummary(summary, truth, money),
    // DET2: the checkpoint is what its records come to.
    ...(JSON.stringify(toBookRows(book)) === JSON.stringify(toBookRows(folded))
      ? []
      : ['the checkpoint is not what the records fold to']),
  ]
}

/** Of a journal on PostgreSQL what a machine holds. */
function readStored(file: string, mode: Mode) {
  const identity = `simulator USDT-FUTURES ${mode}`
  const isReplica = file.endsWith(REPLICA_FILE)
  const journal = isReplica
    ? openStoredJournal(file)
    : openSqliteJournal({ file, identity, keepSince: () => 0 })
  const contents = 'contents' in journal ? journal.contents : journal.load()
  const booked = [...journal.bookings('fill')].filter((row) => row.kind === 'fill')
  journal.close()
  return { contents, booked }
}

/** Those before the last checkpoint too. */
export function readAllRecords(file: string): readonly JournalRecord[] {
  const reader = new JournalReader(file)
  const records = Array.from(reader.records(), ({ record }) => record)
  reader.close()
  return records
}

/** The table of fills has each once, and comes to the money of the book, strategy by strategy. */
function compareBooked(
  booked: readonly BookedFill[],
  { truth, book }: { readonly truth: ExchangeTruth; readonly book: Book },
): Differences {
  const byOwner = Map.groupBy(booked, ({ strategyId, symbol }) => pairKey(strategyId, symbol))
  const sums = [...book.money].flatMap(([pair, { profit, fees, fills }]) => {
    const own = byOwner.get(pair) ?? []
    const sumOf = (of: 'profit' | 'fee') => sumDecimals(own.map((fill) => decimal(fill[of])))
    const agrees = own.length === fills && sumOf('profit').eq(profit) && sumOf('fee').eq(fees)
    return agrees ? [] : [`the table of fills has other money of ${pair} than the book`]
  })
  return [
    ...(booked.length === truth.fills.size
      ? []
      : [`${booked.length} fills in the table of ${truth.fills.size}`]),
    ...sums,
  ]
}

function compareSummary(
  { allRuns }: RunSummary,
  truth: ExchangeTruth,
  money: { readonly fees: string; readonly realisedProfit: string },
): Differences {
  const pairs = [
    ['fills', String(allRuns.fills), String(truth.fills.size)],
    ['fees', allRuns.fees, money.fees],
    ['realisedProfit', allRuns.realisedProfit, money.realisedProfit],
  ] as const
  return pairs.flatMap(([what, our, their]) =>
    decimal(our).eq(decimal(their)) ? [] : [`the summary says ${what} ${our}, there ${their}`],
  )
}

import { basename } from 'node:path'
import { parseEvent } from '../../engine/replay/event-text.ts'
import type { TickerColumn, TickerTable } from '../../domain/ticker-table.ts'
import { Failure } from '../../lib/failure.ts'
import type { PriceTable } from '../../prices/import/price-table.ts'
import type { Field } from '../../prices/recording.ts'
import type { SegmentFile } from '../../recording/recordings.ts'
import {
  openSegment,
  type OpenedSegment,
  type SegmentEnding,
} from '../../recording/segment-reader.ts'

/** `at` is in exchange time. */
const COLUMNS = {
  at: 'ts',
  bid: 'bidPr',
  ask: 'askPr',
  bidSize: 'bidSz',
  askSize: 'askSz',
  last: 'lastPr',
} as const satisfies Partial<Record<Field, TickerColumn>>

const FIELDS = ['at', 'bid', 'ask', 'bidSize', 'askSize', 'last', 'fundingRate'] as const

export interface RecordedQuotes {
  readonly tables: ReadonlyMap<string, readonly PriceTable[]>
  readonly damages: readonly Failure[]
}

/**
 * Reads each ticker once, at its own time.
 * @throws Failure RECORDING_… if the beginning of a file is unreadable; RECORDING_EMPTY without a quote
 */
export function readRecordedQuotes(segments: readonly SegmentFile[]): RecordedQuotes {
  const tables = new Map<string, PriceTable[]>()
  const damages: Failure[] = []
  for (const { file } of segments) {
    const { rows, ending } = readSegment(file)
    if (ending.kind === 'damaged') damages.push(ending.failure)
    for (const [symbol, quotes] of rows)
      tables.set(symbol, [...(tables.get(symbol) ?? []), toTable(quotes, basename(file))])
  }
  if (tables.size === 0) throw damages[0] ?? noQuotes(segments)
  return { tables, damages }
}

function noQuotes(segments: readonly SegmentFile[]): Failure {
  return new Failure({
    code: 'RECORDING_EMPTY',
    sentence: 'the daemon saw no prices while it recorded',
    facts: { file: segments[0]?.file ?? '' },
  })
}

type QuoteNumbers = number[]

function readSegment(file: string): {
  rows: ReadonlyMap<string, QuoteNumbers>
  ending: SegmentEnding
} {
  const rows = new Map<string, QuoteNumbers>()
  const steps = openSteps(file)
  for (let step = steps.next(); ; step = steps.next()) {
    if (step.done === true) return { rows, ending: step.value }
    // Parsing the other steps would take longer.
    if (!step.value.event.includes('"snapshotTaken"')) continue
    const event = parseEvent(step.value.event)
    if (event.kind === 'snapshotTaken') keepTickers(rows, event.tickers)
  }
}

/** A killed process may have only begun a file, which is then empty. */
export function openSteps(file: string): ReturnType<OpenedSegment['steps']> {
  try {
    return openSegment(file).steps()
  } catch (error) {
    if (error instanceof Failure && error.code === 'RECORDING_EMPTY') return endAtOnce()
    throw error
  }
}

// oxlint-disable-next-line require-yield
function* endAtOnce(): ReturnType<OpenedSegment['steps']> {
  return { kind: 'cut', atByte: 0 }
}

function keepTickers(rows: Map<string, QuoteNumbers>, tickers: TickerTable): void {
  for (const symbol of tickers.symbols) {
    const quotes = rows.get(symbol) ?? []
    if (quotes.length === 0) rows.set(symbol, quotes)
    const read = FIELDS.map((field) => readField(tickers, symbol, field))
    const before = quotes.length - FIELDS.length
    // A poll that found nothing new is no quote, and neither is an unreadable row (MKT4).
    const isNew = read.some((number, place) => !Object.is(number, quotes[before + place]))
    if (isNew && read.slice(0, -1).every((number) => !Number.isNaN(number))) quotes.push(...read)
  }
}

function readField(tickers: TickerTable, symbol: string, field: (typeof FIELDS)[number]): number {
  if (field === 'fundingRate') return tickers.read(symbol, 'fundingRate')
  const number = tickers.read(symbol, COLUMNS[field])
  return field === 'at' && Number.isNaN(number) ? tickers.requestTime : number
}

/** A column of funding rates with gaps is left out. */
function toTable(quotes: QuoteNumbers, source: string): PriceTable {
  const columns = new Map(
    FIELDS.map((field, place) => [
      field,
      Float64Array.from(
        { length: quotes.length / FIELDS.length },
        (_, row) => quotes[row * FIELDS.length + place] as number,
      ),
    ]),
  )
  if (columns.get('fundingRate')?.some(Number.isNaN) === true) columns.delete('fundingRate')
  return { kind: 'quotes', source, columns, whereOf: (row) => `${source}, quote ${row + 1}` }
}

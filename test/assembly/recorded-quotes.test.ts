import { mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { readRecordedQuotes } from '../../src/assembly/recordings/recorded-quotes.ts'
import { TickerTable } from '../../src/domain/ticker-table.ts'
import { toTickerRows } from '../../src/domain/ticker-rows.ts'
import { writeEvent } from '../../src/engine/replay/event-text.ts'
import { findSegments, segmentFile } from '../../src/recording/recordings.ts'
import { writeStep } from '../../src/recording/segment.ts'
import { HEAD, IMAGE, madeStep, writeLines } from '../recording/segment-file.ts'

const AT = Date.UTC(2026, 0, 1)

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'recorded-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

interface Ticker {
  readonly symbol?: string
  readonly at: number
  readonly bid: number
  readonly rate?: number
}

function snapshot({ symbol = 'BTCUSDT', at, bid, rate = 0.0001 }: Ticker): string {
  const table = new TickerTable(2)
  const row = table.claimRow(symbol)
  const values = {
    ts: at,
    bidPr: bid,
    askPr: bid + 1,
    bidSz: 2,
    askSz: 3,
    lastPr: bid,
    fundingRate: rate,
  }
  for (const [column, value] of Object.entries(values))
    table.columns[column as keyof typeof values][row] = value
  table.readAt = at + 20
  table.requestTime = AT + 999
  const event = writeEvent({ kind: 'snapshotTaken', tickers: toTickerRows(table, [symbol]) })
  return writeStep({ ...madeStep(AT), event })
}

async function writeRun(number: number, tickers: readonly Ticker[]): Promise<string> {
  const file = segmentFile(folder, '20260101T000000000Z', number)
  const steps = tickers.flatMap((ticker) => [snapshot(ticker), writeStep(madeStep(AT))])
  await writeLines(file, [JSON.stringify(HEAD), IMAGE, ...steps])
  return file
}

const readAll = () => readRecordedQuotes(findSegments(folder))
const columnsOf = (symbol: string) =>
  readAll()
    .tables.get(symbol)
    ?.map(({ columns }) =>
      Object.fromEntries([...columns].map(([field, numbers]) => [field, [...numbers]])),
    )

test('each ticker is a quote at its own time, a table a file; a poll that found nothing new is none', async () => {
  await writeRun(1, [
    { at: AT, bid: 10 },
    { at: AT, bid: 10 },
    { at: AT + 500, bid: 10 },
  ])
  await writeRun(2, [
    { at: AT + 900, bid: 11 },
    { at: AT + 900, bid: 5, symbol: 'ETHUSDT' },
  ])

  const rest = { bidSize: [2, 2], askSize: [3, 3], last: [10, 10], fundingRate: [0.0001, 0.0001] }
  expect(columnsOf('BTCUSDT')).toMatchObject([
    { at: [AT, AT + 500], bid: [10, 10], ask: [11, 11], ...rest },
    { at: [AT + 900], bid: [11] },
  ])
  expect(columnsOf('ETHUSDT')).toMatchObject([{ at: [AT + 900], bid: [5] }])
})

test('a row that could not be read is no quote; rates that are not all there are left out', async () => {
  await writeRun(1, [
    { at: AT, bid: 10 },
    { at: AT + 1, bid: Number.NaN },
    { at: AT + 2, bid: 10, rate: Number.NaN },
  ])

  const [columns] = columnsOf('BTCUSDT') ?? []

  expect(columns?.['at']).toEqual([AT, AT + 2])
  expect(Object.keys(columns ?? {})).not.toContain('fundingRate')
})

test('without a time of its own a ticker has that of its answer', async () => {
  await writeRun(1, [{ at: Number.NaN, bid: 10 }])

  expect(columnsOf('BTCUSDT')?.[0]?.['at']).toEqual([AT + 999])
})

test('what was cut off is read to there; what was changed too, and is reported', async () => {
  const tickers = Array.from({ length: 20 }, (_, index) => ({ at: AT + index, bid: 10 }))
  const file = await writeRun(1, tickers)
  const bytes = readFileSync(file)

  truncateSync(file, bytes.length - 40)
  const cut = readAll()
  bytes[bytes.length - 200] = (bytes[bytes.length - 200] as number) ^ 1
  writeFileSync(file, bytes)
  const changed = readAll()

  const rowsOf = ({ tables }: typeof cut) =>
    tables.get('BTCUSDT')?.[0]?.columns.get('at')?.length ?? 0
  expect(cut.damages).toEqual([])
  expect(rowsOf(cut)).toBe(20)
  expect(changed.damages.map(({ code }) => code)).toEqual(['RECORDING_DAMAGED'])
  expect(rowsOf(changed)).toBeGreaterThan(10)
})

test('a recording without prices is a failure; a file that had only begun beside others is not', async () => {
  writeFileSync(segmentFile(folder, '20260101T000000000Z', 2), '')
  expect(readAll).toThrow(/RECORDING_EMPTY: the daemon saw no prices/)

  await writeRun(1, [{ at: AT, bid: 10 }])
  expect(readAll().tables.size).toBe(1)
})

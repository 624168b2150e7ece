import { gzipSync } from 'node:zlib'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { TickerTable } from '../../src/domain/ticker-table.ts'
import { readTickersJson, TickerScanner } from '../../src/exchange/readers/ticker-reader.ts'
import { envelopeOf, rawAnswer } from '../support/wire-server.ts'
import { closeClientsAfterEach, openClient } from './client-fixture.ts'
import { compareReaders } from './ticker-scans/disturbed-answers.ts'

closeClientsAfterEach()
afterEach(() => void vi.restoreAllMocks())

type Row = Record<string, unknown>

const row = (symbol: string, more: Row = {}): Row => ({
  symbol,
  lastPr: '100.5',
  askPr: '100.5',
  bidPr: '100.0',
  ts: '1700000000123',
  change24h: '-0.01',
  deliveryStatus: '',
  ...more,
})

const answerOf = (rows: readonly Row[], more: Row = {}): Buffer =>
  Buffer.from(JSON.stringify(envelopeOf(rows, more)))

/** How many of the answers were parsed; all must be read as the reader that parses reads them. */
function countParsed(answers: readonly Buffer[]): number {
  const [table, expected] = [new TickerTable(), new TickerTable()]
  const results = answers.map((answer) => ({ answer, read: readTickersJson(answer, expected) }))
  const parse = vi.spyOn(JSON, 'parse')
  const scanner = new TickerScanner()
  const reads = results.map(({ answer, read }) => [scanner.read(answer, table), read])
  const count = parse.mock.calls.length
  for (const [scanned, read] of reads) expect(scanned).toEqual(read)
  expect(table.symbols).toEqual(expected.symbols)
  expect(table.columns.bidPr.slice(0, 4)).toEqual(expected.columns.bidPr.slice(0, 4))
  return count
}

describe('scanning tickers', () => {
  it('parses the first answer, and none that differs from it in values alone', () => {
    const rows = (bidPr: string) => [row('A', { bidPr }), row('B', { askPr: '', lastPr: null })]
    expect(
      countParsed([
        answerOf(rows('1')),
        answerOf(rows('2.5')),
        answerOf(rows('')),
        answerOf(rows('1.2E-7')),
      ]),
    ).toBe(1)
  })

  const differences: ReadonlyArray<readonly [string, Buffer, Buffer]> = [
    ['another instrument', answerOf([row('A')]), answerOf([row('B')])],
    ['one instrument more', answerOf([row('A')]), answerOf([row('A'), row('B')])],
    ['another order of fields', answerOf([row('A')]), answerOf([{ ts: '1', ...row('A') }])],
    ['a new field', answerOf([row('A')]), answerOf([row('A', { markPrice: '1' })])],
    ['a field that is gone', answerOf([row('A')]), answerOf([row('A', { bidPr: undefined })])],
    ['another message', answerOf([row('A')]), answerOf([row('A')], { msg: 'ok' })],
  ]
  it.each(differences)(
    'parses an answer with %s once, and then knows it',
    (_what, before, after) => {
      expect(countParsed([before, before, after, after, after])).toBe(2)
    },
  )

  it('[MKT4] takes no price that no tick can count, nor keeps the one before it', () => {
    const rows = (askPr: string) => [row('A', { askPr }), row('B')]
    // A row that cannot be read is never learned: both of these are parsed.
    expect(
      countParsed([answerOf(rows('101')), answerOf(rows('1e308')), answerOf(rows('1e308'))]),
    ).toBe(3)
  })

  it('[MKT1] leaves no value of a field that is gone, in whichever table', () => {
    const scanner = new TickerScanner()
    const [one, other] = [new TickerTable(), new TickerTable()]
    const whole = answerOf([row('A')])
    const without = answerOf([row('A', { bidPr: undefined })])
    for (const table of [one, other]) scanner.read(whole, table)

    scanner.read(without, one)
    scanner.read(without, other)

    expect([one.read('A', 'bidPr'), other.read('A', 'bidPr')]).toEqual([Number.NaN, Number.NaN])
    expect(other.read('A', 'askPr')).toBe(100.5)
  })

  it('reads as the reader that parses does, whatever becomes of the bytes', () => {
    const { answers, scanned, difference } = compareReaders('tickers', 6000)
    expect(difference).toBeUndefined()
    expect(answers).toBe(6000)
    expect(scanned).toBeGreaterThan(1000)
  })

  it('reads an answer that comes compressed, and one that comes in three pieces', async () => {
    const { server, client } = await openClient()
    const table = new TickerTable()
    const answers = [
      rawAnswer({ body: answerOf([row('A', { bidPr: '1' })]) }),
      rawAnswer({
        body: gzipSync(answerOf([row('A', { bidPr: '2' })])),
        headers: { 'content-encoding': 'gzip' },
      }),
      rawAnswer({ body: answerOf([row('A', { bidPr: '3' })]) }),
    ]
    for (const [index, bytes] of answers.entries()) {
      const third = Math.ceil(bytes.length / 3)
      server.script = (_request, socket) => {
        for (const piece of [0, 1, 2]) {
          setTimeout(() => socket.write(bytes.subarray(piece * third, (piece + 1) * third)), piece)
        }
      }
      expect(await client.readTickers(table, 'USDT-FUTURES')).toMatchObject({ kind: 'accepted' })
      expect(table.read('A', 'bidPr')).toBe(index + 1)
    }
  })
})

import { expect, test } from 'vitest'
import { TickerTable } from '../../src/domain/ticker-table.ts'
import { readTickersJson, TickerScanner } from '../../src/exchange/readers/ticker-reader.ts'
import { receiveWindow } from '../../src/protocol/values.ts'

const envelope = (data: unknown): string =>
  JSON.stringify({ code: '00000', msg: 'success', requestTime: 1_700_000_000_000, data })
const row = (symbol: string) => ({
  symbol,
  lastPr: '1',
  askPr: '2',
  bidPr: '1',
  ts: '1700000000000',
})

test('a byte order mark before an answer changes nothing, however often it comes', () => {
  const body = Buffer.from(`\uFEFF${envelope([row('BTCUSDT')])}`)
  const scanner = new TickerScanner()
  const table = new TickerTable()

  for (let time = 0; time < 3; time++) {
    expect(scanner.read(body, table)).toMatchObject({ kind: 'filled' })
    expect(table.read('BTCUSDT', 'lastPr')).toBe(1)
  }
})

test('[MKT4] more instruments than a table holds cost only those behind, and it is said of them', () => {
  const table = new TickerTable(3)

  const read = readTickersJson(Buffer.from(envelope(['A', 'B', 'C', 'D', 'E'].map(row))), table)

  expect(read).toMatchObject({ kind: 'filled' })
  expect(table.symbols).toEqual(['A', 'B', 'C'])
  expect([...table.unreadable.keys()]).toEqual(['D', 'E'])
  expect(table.unreadable.get('D')).toContain('behind the first 3 instruments')
})

test.each([
  ['00060000', true],
  ['60000', true],
  ['00060001', false],
  ['-1', false],
  ['', false],
])('receiveWindow %j counts by its value', (text, isTaken) => {
  expect(receiveWindow.safeParse(text).success).toBe(isTaken)
})

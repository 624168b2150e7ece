import { expect, test } from 'vitest'
import { TICKER_COLUMNS, type TickerColumn, TickerTable } from '../../../src/domain/ticker-table.ts'
import { createRandom } from '../../../src/lib/random.ts'
import {
  TickerDecoder,
  TickerEncoder,
  WRITTEN_COLUMNS,
} from '../../../src/recording/universe/ticker-codec.ts'
import { DrawnTickers } from '../../support/drawn-tickers.ts'
import { toBytes } from '../../support/ticker-bytes.ts'

const AT = Date.UTC(2026, 0, 1)

test('drawn tickers of many instruments come back to the bit, with listings and delistings', () => {
  const drawn = new DrawnTickers({ count: 60, seed: 1, churn: 5 })
  const [encoder, decoder] = [new TickerEncoder(), new TickerDecoder(WRITTEN_COLUMNS)]
  const [table, read] = [new TickerTable(), new TickerTable()]
  const lists = new Set<string>()

  for (let minute = 0; minute < 120; minute++) {
    drawn.next(table, AT + minute * 60_000 + 137)
    decoder.decode(encoder.encode(table), read)
    expect(toBytes(read)).toBe(toBytes(table))
    lists.add(table.symbols.join(' '))
  }
  expect(lists.size).toBe(11)
})

const ODD = [
  Number.NaN,
  0,
  -0,
  1e-300,
  -1e-7,
  0.1 + 0.2,
  2 ** 53 + 2,
  -(2 ** 60),
  1 / 3,
  1e21,
  0.000001234567,
  Number.MAX_SAFE_INTEGER,
  Number.POSITIVE_INFINITY,
  12_345.678,
]

test.each([1, 2, 3, 4])(
  'odd numbers in any order of rows come back to the bit: seed %d',
  (seed) => {
    const random = createRandom(seed)
    const [encoder, decoder] = [new TickerEncoder(), new TickerDecoder(WRITTEN_COLUMNS)]
    const [table, read] = [new TickerTable(50), new TickerTable(50)]
    const symbols = Array.from({ length: 40 }, (_, index) => `ö${index}USDT`)

    for (let answer = 0; answer < 60; answer++) {
      table.clear()
      table.readAt = AT + answer * 1000 + random.next()
      table.requestTime = random.integer(5) === 0 ? 0 : AT + answer * 1000
      table.unreadable =
        random.integer(3) === 0 ? new Map([['BADUSDT', 'lastPr: "x\n" is not a value']]) : new Map()
      for (const symbol of symbols.toSorted(() => random.next() - 0.5)) {
        if (random.integer(4) === 0) continue
        const row = table.claimRow(symbol)
        for (const column of TICKER_COLUMNS)
          table.columns[column][row] =
            random.integer(2) === 0 ? (ODD[random.integer(ODD.length)] as number) : random.normal()
      }
      decoder.decode(encoder.encode(table), read)
      expect(toBytes(read)).toBe(toBytes(table))
    }
  },
)

test('a column that an older file lacks has no values, and one that it has besides is passed over', () => {
  const [encoder, read] = [new TickerEncoder(), new TickerTable()]
  const columns = WRITTEN_COLUMNS.map((column) => (column === 'openUtc' ? 'openMoon' : column))
  const table = new TickerTable()
  new DrawnTickers({ count: 3, seed: 5 }).next(table, AT)

  new TickerDecoder(columns).decode(encoder.encode(table), read)

  const valuesOf = (of: TickerTable, column: TickerColumn) => of.columns[column].slice(0, 3)
  expect(valuesOf(read, 'openUtc')).toEqual(new Float64Array(3).fill(Number.NaN))
  expect(valuesOf(read, 'lastPr')).toEqual(valuesOf(table, 'lastPr'))
  expect(valuesOf(read, 'deliveryStatus')).toEqual(valuesOf(table, 'deliveryStatus'))
})

test('bytes that are no answer are refused', () => {
  const table = new TickerTable()
  new DrawnTickers({ count: 3, seed: 5 }).next(table, AT)
  const bytes = new TickerEncoder().encode(table)
  const decode = (changed: Buffer) => () =>
    new TickerDecoder(WRITTEN_COLUMNS).decode(changed, new TickerTable())

  expect(decode(bytes.subarray(0, -3))).toThrow(RangeError)
  expect(decode(Buffer.concat([bytes, Buffer.from([1])]))).toThrow(RangeError)
})

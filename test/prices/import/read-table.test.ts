import { describe, expect, it } from 'vitest'
import { readTables } from '../../../src/prices/import/read-table.ts'
import type { PriceTable } from '../../../src/prices/import/price-table.ts'
import { nameInterval, parseDate } from '../../../src/prices/times.ts'
import { isZip, unpackZip } from '../../../src/prices/import/zip-entries.ts'
import { buildPriceFile } from '../../../src/prices/price-file.ts'
import { buildZip } from './zip-file.ts'

const AT = 1748538300000

const NOW = Date.UTC(2026, 0, 1)

function read(text: string, name = 'BTCUSDT.csv'): PriceTable {
  const [table] = readTables({ name, bytes: Buffer.from(text) }, NOW)
  if (!table) throw new Error('there is no table')
  return table
}
const columnsOf = (text: string, name?: string) =>
  Object.fromEntries([...read(text, name).columns].map(([field, numbers]) => [field, [...numbers]]))

/** Two minutes, as everybody writes them. */
const CANDLES = {
  at: [AT, AT + 60_000],
  open: [10, 11],
  high: [12, 11.5],
  low: [9, 11],
  close: [11, 11],
  volume: [5.5, 0],
}

describe('candles are read', () => {
  it.each([
    [
      'our own',
      'ts_ms,open,high,low,close,volume\n1748538300000,10,12,9,11,5.5\n1748538360000,11,11.5,11,11,0\n',
    ],
    [
      'freqtrade’s JSON',
      '[[1748538300000,10.0,12.0,9.0,11.0,5.5],\n[1748538360000,11.0,11.5,11.0,11.0,0.0]]',
    ],
    [
      'a data frame with an index and dates',
      ',date,open,high,low,close,volume\n0,2025-05-29 17:05:00+00:00,10,12,9,11,5.5\n1,2025-05-29 17:06:00+00:00,11,11.5,11,11,0\n',
    ],
    [
      'Binance’s of spot, without header',
      '1748538300000,10,12,9,11,5.5,1748538359999,60.5,3,2,22,0\n1748538360000,11,11.5,11,11,0,1748538419999,0,0,0,0,0\n',
    ],
    [
      'Binance’s of spot in microseconds',
      '1748538300000000,10,12,9,11,5.5,1748538359999999,60.5,3,2,22,0\n1748538360000000,11,11.5,11,11,0,1748538419999999,0,0,0,0,0\n',
    ],
    [
      'Binance’s of futures, with header',
      'open_time,open,high,low,close,volume,close_time,quote_volume,count,taker_buy_volume,taker_buy_quote_volume,ignore\n1748538300000,10,12,9,11,5.5,1748538359999,60.5,3,2,22,0\n1748538360000,11,11.5,11,11,0,1748538419999,0,0,0,0,0\n',
    ],
    [
      'Bybit’s, with header and turnover',
      'start,open,high,low,close,volume,turnover\r\n1748538300,10,12,9,11,5.5,60\r\n1748538360,11,11.5,11,11,0,0\r\n',
    ],
    [
      'Bybit’s for MetaTrader, without header',
      '2025.05.29 17:05,10,12,9,11,5.5\n2025.05.29 17:06,11,11.5,11,11,0\n',
    ],
    [
      'with semicolons',
      'ts_ms;open;high;low;close;volume\n1748538300000;10;12;9;11;5.5\n1748538360000;11;11.5;11;11;0\n',
    ],
    [
      'with tabs, without header',
      '1748538300000\t10\t12\t9\t11\t5.5\n1748538360000\t11\t11.5\t11\t11\t0\n',
    ],
    [
      'quoted names and dates, with a byte order mark',
      '\uFEFF"Date","Open","High","Low","Close","Volume"\n"2025-05-29T17:05:00Z",10,12,9,11,5.5\n"2025-05-29T17:06:00Z",11,11.5,11,11,0\n',
    ],
    [
      'quoted in every cell, as Excel and pandas write it',
      '"ts_ms","open","high","low","close","volume"\r\n"1748538300000","10","12","9","11","5.5"\r\n"1748538360000","11","11.5","11","11","0"\r\n',
    ],
    [
      'below the line that Excel puts above them',
      '\uFEFFsep=;\r\n"Date";"Open";"High";"Low";"Close";"Volume"\r\n"2025-05-29 17:05";"10";"12";"9";"11";"5.5"\r\n"2025-05-29 17:06";11;1.15e1;11;11;0\r\n',
    ],
    [
      'below that line, without header',
      'sep=,\n1748538300000,10,12,9,11,5.5\n1748538360000,11,11.5,11,11,0\n',
    ],
  ])('%s', (_, text) => {
    expect(read(text).kind).toBe('candles')
    expect(columnsOf(text)).toEqual(CANDLES)
  })

  it('of a price file', () => {
    const rows = { kind: 'candles', at: Float64Array.of(AT), open: Float64Array.of(1) } as const
    const [high, low, close, volume] = [1, 1, 1, 2].map((number) => Float64Array.of(number)) as [
      Float64Array,
      Float64Array,
      Float64Array,
      Float64Array,
    ]
    const bytes = buildPriceFile({
      symbol: 'BTCUSDT',
      rows: { ...rows, high, low, close, volume },
      sources: [],
    })

    expect(readTables({ name: 'x', bytes }, NOW)[0]?.columns).toEqual(
      new Map(Object.entries({ at: rows.at, open: rows.open, high, low, close, volume })),
    )
  })
})

describe('quotes are read', () => {
  it('with what is beside them', () => {
    const text = 'ts_ms,bid,ask,bidSz,askSz,last,mark\n1748538300.123456,9,10,1,2,9.5,9.7\n'

    expect(read(text).kind).toBe('quotes')
    expect(columnsOf(text)).toMatchObject({ at: [AT + 123], bid: [9], askSize: [2], mark: [9.7] })
  })
})

describe('trades become candles of a minute', () => {
  const candles = {
    at: [AT, AT + 120_000],
    open: [10, 11],
    high: [12, 11],
    low: [9, 11],
    close: [9, 11],
    volume: [0.6, 0.4],
  }

  it.each([
    [
      'Binance’s aggregated trades of spot',
      '1,10,0.1,1,1,1748538300000,True,True\n2,12,0.2,2,2,1748538301000,False,True\n3,9,0.3,3,4,1748538359999,False,True\n4,11,0.4,5,5,1748538420000,True,True\n',
    ],
    [
      'Binance’s aggregated trades of futures, with header',
      'agg_trade_id,price,quantity,first_trade_id,last_trade_id,transact_time,is_buyer_maker\n1,10,0.1,1,1,1748538300000,true\n2,12,0.2,2,2,1748538301000,false\n3,9,0.3,3,4,1748538359999,false\n4,11,0.4,5,5,1748538420000,true\n',
    ],
    [
      'Binance’s trades of spot in microseconds',
      '1,10,0.1,1,1748538300000001,True,True\n2,12,0.2,2.4,1748538301000000,False,True\n3,9,0.3,2.7,1748538359999999,False,True\n4,11,0.4,4.4,1748538420000000,True,True\n',
    ],
    [
      'Binance’s trades of futures, with header',
      'id,price,qty,quote_qty,time,is_buyer_maker\n1,10,0.1,1,1748538300000,true\n2,12,0.2,2.4,1748538301000,false\n3,9,0.3,2.7,1748538359999,false\n4,11,0.4,4.4,1748538420000,true\n',
    ],
    [
      'Bybit’s, the latest first, seconds with a fraction',
      'timestamp,symbol,side,size,price,tickDirection,trdMatchID\n1748538420.0001,BTCUSDT,Buy,0.4,11,PlusTick,x\n1748538359.9999,BTCUSDT,Buy,0.3,9,PlusTick,x\n1748538301,BTCUSDT,Buy,0.2,12,PlusTick,x\n1748538300,BTCUSDT,Buy,0.1,10,PlusTick,x\n',
    ],
    [
      'Bybit’s of spot',
      'id,timestamp,price,volume,side,rpi\n1,1748538300000,10,0.1,sell,0\n2,1748538301000,12,0.2,buy,0\n3,1748538359999,9,0.3,buy,0\n4,1748538420000,11,0.4,buy,0\n',
    ],
  ])('%s', (_, text) => {
    expect(columnsOf(text)).toEqual(candles)
    expect(read(text).trades?.count).toBe(4)
  })

  it('names the line of a candle’s first trade, and leaves trades at no price aside', () => {
    const text =
      'id,timestamp,price,volume\n1,1748538300000,0,1\n2,1748538300001,10,1\n3,1748538360000,11,1\n'
    const table = read(text)

    expect([table.whereOf(0), table.whereOf(1)]).toEqual(['BTCUSDT.csv:3', 'BTCUSDT.csv:4'])
    expect(table.trades?.zeroPrices).toEqual({ count: 1, first: 'BTCUSDT.csv:2' })
    expect([...(table.columns.get('low') as Float64Array)]).toEqual([10, 11])
  })
})

describe('refused by its name and place', () => {
  it.each([
    ['a header nobody knows', 'a,b,c\n1,2,3\n', /IMPORT_SHAPE_UNKNOWN[^]*BTCUSDT.csv:1[^]*a,b,c/],
    ['a header that would colour a terminal', 'a\u001B[31m,b\n1,2\n', /found +a,b/],
    ['too many columns', '1,2,3,4,5,6,7,8\n', /IMPORT_SHAPE_UNKNOWN/],
    ['nothing', ' \n', /RECORDING_EMPTY/],
    ['a header alone', 'ts_ms,open,high,low,close,volume\n', /RECORDING_EMPTY/],
    ['an empty list', '[]', /RECORDING_EMPTY/],
    ['a list of something else', '[{"a":1}]', /IMPORT_SHAPE_UNKNOWN[^]*row 1[^]*{"a":1}/],
    ['a JSON cut short', '[[1748538300000,1,1,1,1', /IMPORT_JSON_UNREADABLE/],
    [
      'a text in a first line without header',
      '1748538300000,1,1,x,1,1\n',
      /RECORDING_NOT_NUMERIC: low[^]*:1\n/,
    ],
    [
      'separators of thousands in a first line without header',
      '1748538300000,"60,000.0","60,100.0","59,900.0","60,050.0","1,200.5",0\n',
      /RECORDING_NOT_NUMERIC[^]*BTCUSDT.csv:1\n[^]*"60,000.0"[^]*without separators of thousands/,
    ],
    ['a day of no month', '2025-02-99,1,1,1,1,1\n', /RECORDING_NOT_NUMERIC: at/],
    ['a number that is no time', '17,1,1,1,1,1\n', /RECORDING_TIME_UNIT[^]*:1\n[^]*17/],
  ])('%s', (_, text, message) => {
    expect(() => read(text)).toThrow(message)
  })
})

describe('a zip', () => {
  const limit = { path: 'x.zip', bytesMax: 1000 }

  it.each([true, false])(
    'gives its files, stored (%s) or deflated, without folders and hidden files',
    (isStored) => {
      const bytes = buildZip(
        { 'a/': '', 'a/b.csv': 'one', '__MACOSX/b.csv': 'x', '.c': 'x', 'd.csv': '' },
        { isStored },
      )

      const files = unpackZip(bytes, limit)

      expect(isZip(bytes)).toBe(true)
      expect(files.map(({ name, bytes: contents }) => [name, String(contents)])).toEqual([
        ['a/b.csv', 'one'],
        ['d.csv', ''],
      ])
    },
  )

  it('is refused when encrypted, or larger than is read', () => {
    const [encrypted, large] = [
      buildZip({ a: 'one' }, { flags: 1 }),
      buildZip({ a: 'x'.repeat(1001) }),
    ]

    expect(() => unpackZip(encrypted, limit)).toThrow(/RECORDING_ZIP_UNSUPPORTED[^]*unpack it/)
    expect(() => unpackZip(large, limit)).toThrow(/RECORDING_TOO_LARGE/)
  })

  it('that says to be smaller than it is, is refused before it fills the memory', () => {
    const bytes = buildZip({ a: 'x'.repeat(1_000_000) })
    bytes.writeUInt32LE(10, bytes.lastIndexOf('PK\u0001\u0002') + 24)

    expect(() => unpackZip(bytes, limit)).toThrow(/RECORDING_ZIP_DAMAGED/)
  })

  it('that is cut or changed is refused, or gives the same', () => {
    const whole = buildZip({ 'a.csv': 'one,two,three' })
    const listOf = (bytes: Buffer) => unpackZip(bytes, limit).map((file) => String(file.bytes))
    for (let at = 0; at < whole.length; at++) {
      const bytes = Buffer.from(whole)
      bytes[at] = (bytes[at] as number) ^ 0xff
      try {
        // A name that is hidden, or none at all, is no file.
        expect([[], ['one,two,three']]).toContainEqual(listOf(bytes))
      } catch (error) {
        expect(String(error)).toMatch(/RECORDING_(ZIP_|TOO_LARGE)/)
      }
      expect(() => listOf(whole.subarray(0, at))).toThrow(/RECORDING_ZIP_DAMAGED/)
    }
  })
})

it.each([
  ['2025-05-29 17:05:00+00:00', AT],
  ['2025-05-29 19:05:00+02:00', AT],
  ['2025-05-29T17:05:00.250Z', AT + 250],
  ['2025.05.29 17:05', AT],
  ['2025-05-29 17:05:00 UTC', AT],
  ['2025-05-29', Date.UTC(2025, 4, 29)],
  ['20250529 170500', AT],
  ['20250529T170500Z', AT],
  ['20250529 17:05', AT],
  ['2025-05-29T17:05:00-0300', AT + 10_800_000],
  ['2025-02-30', undefined],
  ['2025-02-29 10:00', undefined],
  ['2024-02-29', Date.UTC(2024, 1, 29)],
  ['2025-13-01', undefined],
  ['2025-06-01 25:00', undefined],
  ['2025-06-01 10:61', undefined],
  ['2611-06-01', undefined],
  ['1999-12-31', undefined],
  ['20250529-1705', undefined],
  ['29.05.2025', undefined],
  ['yesterday', undefined],
])('the date %s is %s', (text, at) => {
  expect(parseDate(text)).toBe(at)
})

it.each([
  [1000, '1s'],
  [60_000, '1m'],
  [14_400_000, '4h'],
  [86_400_000, '1d'],
  [604_800_000, '1w'],
  [250, '250ms'],
])('%d ms are %s', (ms, name) => {
  expect(nameInterval(ms)).toBe(name)
})

/** Files as vendors write them: each value of two rows, read off by hand. */
import { describe, expect, it } from 'vitest'
import type { Field } from '../../../src/prices/recording.ts'
import { readTables } from '../../../src/prices/import/read-table.ts'

const NOW = Date.UTC(2026, 0, 1)

interface VendorRow {
  readonly at: number
  readonly open: number
  readonly high: number
  readonly low: number
  readonly close: number
  readonly volume: number
}

function rowsOf(lines: readonly string[]): readonly VendorRow[] {
  const [table] = readTables({ name: 'file.csv', bytes: Buffer.from(lines.join('\n')) }, NOW)
  const { columns } = table ?? { columns: new Map<Field, Float64Array>() }
  return [...(columns.get('at') ?? [])].map((at, row) => {
    const cell = (field: Field): number => columns.get(field)?.[row] ?? Number.NaN
    return {
      at,
      open: cell('open'),
      high: cell('high'),
      low: cell('low'),
      close: cell('close'),
      volume: cell('volume'),
    }
  })
}

/** 1 June 2025, midnight and a minute later, in UTC. */
const FIRST = {
  at: 1748736000000,
  open: 104598.1,
  high: 104612.5,
  low: 104580,
  close: 104601.7,
  volume: 12.345,
}
const SECOND = {
  at: 1748736060000,
  open: 104601.7,
  high: 104650,
  low: 104601.6,
  close: 104633.2,
  volume: 8.01,
}

describe('the files of vendors, value by value', () => {
  it.each([
    [
      'Binance',
      [
        'open_time,open,high,low,close,volume,close_time,quote_volume,count,taker_buy_volume,taker_buy_quote_volume,ignore',
        '1748736000000,104598.10,104612.50,104580.00,104601.70,12.345,1748736059999,1291302.18,812,6.1,638000.1,0',
        '1748736060000,104601.70,104650.00,104601.60,104633.20,8.010,1748736119999,838110.54,640,4.0,418500.2,0',
      ],
    ],
    [
      'Binance spot, microseconds and no header',
      [
        '1748736000000000,104598.10,104612.50,104580.00,104601.70,12.345,1748736059999999,1291302.18,812,6.1,638000.1,0',
        '1748736060000000,104601.70,104650.00,104601.60,104633.20,8.010,1748736119999999,838110.54,640,4.0,418500.2,0',
      ],
    ],
    [
      'Bybit',
      [
        'start,open,high,low,close,volume,turnover',
        '1748736000,104598.1,104612.5,104580,104601.7,12.345,1291302.18',
        '1748736060,104601.7,104650,104601.6,104633.2,8.01,838110.54',
      ],
    ],
    [
      'OKX',
      [
        'instrument_name,open,high,low,close,vol,vol_ccy,vol_quote,open_time,confirm',
        'BTC-USDT,104598.1,104612.5,104580.0,104601.7,12.345,12.345,1291302.18,1748736000000,1',
        'BTC-USDT,104601.7,104650.0,104601.6,104633.2,8.01,8.01,838110.54,1748736060000,1',
      ],
    ],
    [
      'Kraken, which counts trades in a last column and has no header',
      [
        '1748736000,104598.1,104612.5,104580.0,104601.7,12.34500000,97',
        '1748736060,104601.7,104650.0,104601.6,104633.2,8.01000000,55',
      ],
    ],
    [
      'Coinbase, whose low goes before the high',
      [
        'time,low,high,open,close,volume',
        '1748736000,104580,104612.5,104598.1,104601.7,12.345',
        '1748736060,104601.6,104650,104601.7,104633.2,8.01',
      ],
    ],
    [
      'Bitstamp',
      [
        'timestamp,open,high,low,close,volume',
        '1748736000,104598.1,104612.5,104580,104601.7,12.34500000',
        '1748736060,104601.7,104650,104601.6,104633.2,8.01000000',
      ],
    ],
    [
      'CryptoDataDownload, below its address and with both times',
      [
        'https://www.CryptoDataDownload.com',
        'unix,date,symbol,open,high,low,close,Volume BTC,Volume USD',
        '1748736000,2025-06-01 00:00:00,BTC/USD,104598.1,104612.5,104580,104601.7,12.345,1291302.18',
        '1748736060,2025-06-01 00:01:00,BTC/USD,104601.7,104650,104601.6,104633.2,8.01,838110.54',
      ],
    ],
    [
      'TradingView',
      [
        'time,open,high,low,close,Volume',
        '1748736000,104598.1,104612.5,104580,104601.7,12.345',
        '1748736060,104601.7,104650,104601.6,104633.2,8.01',
      ],
    ],
    [
      'TradingView, with dates of the zone of its reader',
      [
        'time,open,high,low,close,Volume',
        '2025-06-01T02:00:00+02:00,104598.1,104612.5,104580,104601.7,12.345',
        '2025-06-01T02:01:00+02:00,104601.7,104650,104601.6,104633.2,8.01',
      ],
    ],
    [
      'Dukascopy, in GMT',
      [
        'Gmt time,Open,High,Low,Close,Volume',
        '01.06.2025 00:00:00.000,104598.1,104612.5,104580,104601.7,12.345',
        '01.06.2025 00:01:00.000,104601.7,104650,104601.6,104633.2,8.01',
      ],
    ],
    [
      'Dukascopy, in the time of its reader',
      [
        'Local time,Open,High,Low,Close,Volume',
        '01.06.2025 01:00:00.000 GMT+0100,104598.1,104612.5,104580,104601.7,12.345',
        '01.06.2025 01:01:00.000 GMT+0100,104601.7,104650,104601.6,104633.2,8.01',
      ],
    ],
    [
      'Dukascopy, west of Greenwich, on the day before',
      [
        'Local time,Open,High,Low,Close,Volume',
        '31.05.2025 19:00:00.000 GMT-0500,104598.1,104612.5,104580,104601.7,12.345',
        '31.05.2025 19:01:00.000 GMT-0500,104601.7,104650,104601.6,104633.2,8.01',
      ],
    ],
    [
      'Bitget',
      [
        'timestamp,open,high,low,close,baseVolume,quoteVolume',
        '1748736000000,104598.1,104612.5,104580,104601.7,12.345,1291302.18',
        '1748736060000,104601.7,104650,104601.6,104633.2,8.01,838110.54',
      ],
    ],
    [
      'a spreadsheet',
      [
        'Datetime;Open;High;Low;Close;Volume',
        '2025-06-01 00:00:00;104598.1;104612.5;104580;104601.7;12.345',
        '2025-06-01 00:01:00;104601.7;104650;104601.6;104633.2;8.01',
      ],
    ],
  ])('%s', (_, lines) => {
    expect(rowsOf(lines)).toEqual([FIRST, SECOND])
  })

  it.each([
    [
      'Yahoo, whose volume is in dollars',
      ['Date,Open,High,Low,Close,Adj Close,Volume', '2025-06-01,1,1,1,1,1,47000000000'],
      /IMPORT_SHAPE_UNKNOWN[^]*a volume in the base coin \(Volume is none\)/,
    ],
    [
      'a local time that no zone stands behind',
      ['Local time,Open,High,Low,Close,Volume', '01.06.2025 01:00:00.000,1,1,1,1,1'],
      /a time/,
    ],
    [
      'a day and a month that could be either',
      ['time,open,high,low,close,volume', '06/01/2025 00:00,1,1,1,1,1'],
      /RECORDING_NOT_NUMERIC/,
    ],
    [
      'a 30th of February, day first',
      ['time,open,high,low,close,volume', '30.02.2025 00:00,1,1,1,1,1'],
      /RECORDING_NOT_NUMERIC/,
    ],
  ])('refused: %s', (_, lines, message) => {
    expect(() => rowsOf(lines)).toThrow(message)
  })
})

import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  type ImportedPrices,
  type ImportedFunding,
  importPrices,
  type ImportOptions,
} from '../../../src/prices/import/import-prices.ts'
import { loadRecording } from '../../../src/prices/load-recording.ts'
import { describeRecording } from '../../../src/backtest/played-prices.ts'
import { parseFunding } from '../../../src/prices/funding-file.ts'
import { buildZip } from './zip-file.ts'

const AT = Date.UTC(2025, 5, 2)
const NOW = Date.UTC(2025, 6, 1)
const HEADER = 'ts_ms,open,high,low,close,volume\n'

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'odd-files-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

type Files = Readonly<Record<string, string | Uint8Array>>

async function importFiles(files: Files, options: Partial<ImportOptions> = {}) {
  for (const [name, contents] of Object.entries(files)) writeFileSync(join(folder, name), contents)
  const paths = Object.keys(files).map((name) => join(folder, name))
  const directory = join(folder, 'out')
  const given = {
    files: paths,
    directory,
    isStrict: false,
    isReplacing: false,
    now: NOW,
    ...options,
  }
  const all: (ImportedPrices | ImportedFunding)[] = []
  for await (const one of importPrices(given)) all.push(one)
  return all
}

async function importPrice(
  files: Files,
  options: Partial<ImportOptions> = {},
): Promise<ImportedPrices> {
  const [one] = await importFiles(files, options)
  if (!one || !('rows' in one)) throw new Error('no prices were imported')
  return one
}

const written = () => readdirSync(join(folder, 'out')).toSorted()
const minutes = (count: number, line: (minute: number) => string) =>
  Array.from({ length: count }, (_, minute) => `${line(minute)}\n`).join('')
const candles = (count: number, { stepMs = 60_000, from = AT } = {}) =>
  minutes(count, (row) => `${from + row * stepMs},10,12,9,11,5`)
const columnOf = (
  { rows }: ImportedPrices,
  name: 'at' | 'open' | 'close' | 'high' | 'low' | 'volume',
) => [...((rows as unknown as Record<string, Float64Array>)[name] as Float64Array)]

describe('--interval says what files do not', () => {
  const seldom = HEADER + candles(5, { stepMs: 300_000 })

  it('of one candle, and of candles that stand far apart: the file keeps it, and is played with it', async () => {
    const one = await importPrice({ 'BTCUSDT.csv': HEADER + candles(1) }, { intervalMs: 3_600_000 })
    const five = await importPrice({ 'ETHUSDT.csv': seldom }, { intervalMs: 60_000 })

    expect(written()).toEqual(['BTCUSDT-1h.prices', 'ETHUSDT-1m.prices'])
    expect([one.name, five.name]).toEqual(['1h', '1m'])
    const played = await loadRecording(join(folder, 'out', 'ETHUSDT-1m.prices'))
    expect(describeRecording(played)).toMatchObject({ stepMs: 60_000, toAt: AT + 1_260_000 })
    expect(
      describeRecording(await loadRecording(join(folder, 'out', 'BTCUSDT-1h.prices'))).stepMs,
    ).toBe(3_600_000)
  })

  it.each<[string, string, string, number]>([
    ['its name says another', 'BTCUSDT-5m.csv', seldom, 60_000],
    ['its times say another', 'BTCUSDT.csv', HEADER + candles(30), 300_000],
    [
      'trades are candles of a minute',
      'BTCUSDT.csv',
      `timestamp,side,size,price\n${AT / 1000},Buy,1,150\n`,
      300_000,
    ],
  ])('refused where %s', async (_, name, contents, intervalMs) => {
    await expect(importFiles({ [name]: contents }, { intervalMs })).rejects.toThrow(
      /IMPORT_INTERVAL_DIFFERS/,
    )
  })
})

it('a row with a price that no market has is impossible: left out with its place, and refused by --market', async () => {
  const contents = `${HEADER}${candles(20)}${AT + 20 * 60_000},10,1e308,9,11,5\n`
  const found = await importPrice({ 'BTCUSDT-1m.csv': contents })

  expect(found.findings.impossible).toMatchObject({ count: 1, first: 'BTCUSDT-1m.csv:22' })
  expect(found.rows.at).toHaveLength(20)
  await expect(loadRecording(join(folder, 'BTCUSDT-1m.csv'))).rejects.toThrow(
    /RECORDING_PRICE_TOO_HIGH[^]*BTCUSDT-1m\.csv:22/,
  )
})

describe('two instruments are never one', () => {
  const trades = (...symbols: string[]) =>
    `timestamp,symbol,side,size,price\n${symbols.map((symbol, row) => `${AT / 1000 + row},${symbol},Buy,1,${row % 2 === 0 ? 150 : 40}\n`).join('')}`

  it('trades of two that a column names become a file each', async () => {
    const found = await importFiles({ 'dump.csv': trades('SOLUSDT', 'AVAXUSDT', 'SOLUSDT') })

    expect(written()).toEqual(['AVAXUSDT-1m.prices', 'SOLUSDT-1m.prices'])
    expect(found.map((one) => 'rows' in one && columnOf(one, 'low'))).toEqual([[150], [40]])
  })

  it.each<[string, Files, Partial<ImportOptions>, RegExp]>([
    [
      'two coins of a column, which are no symbols',
      { 'SOLUSDT-trades.csv': trades('SOL', 'AVAX') },
      {},
      /IMPORT_SYMBOLS_DIFFER[^]*SOL[^]*AVAX/,
    ],
    [
      'two coins of a column, with a symbol for both',
      { 'dump.csv': trades('SOL', 'AVAX') },
      { symbol: 'SOLUSDT' },
      /IMPORT_SYMBOLS_DIFFER[^]*SOL, AVAX/,
    ],
    [
      'a coin each of two files, with a symbol for both',
      { 'one.csv': trades('SOL'), 'two.csv': trades('AVAX') },
      { symbol: 'SOLUSDT' },
      /IMPORT_SYMBOLS_DIFFER[^]*SOL, AVAX/,
    ],
    [
      'two symbols of a column, with a symbol for both',
      { 'dump.csv': trades('SOLUSDT', 'AVAXUSDT') },
      { symbol: 'SOLUSDT' },
      /IMPORT_SYMBOLS_DIFFER[^]*SOLUSDT, AVAXUSDT/,
    ],
    [
      'another one in the column than in the name',
      { 'BTCUSDT.csv': trades('ETHUSDT') },
      {},
      /IMPORT_SYMBOLS_DIFFER[^]*BTCUSDT, ETHUSDT/,
    ],
    [
      'another one in the zip than in its name',
      { 'BTCUSDT-1m.zip': buildZip({ 'ETHUSDT-1m.csv': HEADER + candles(3) }) },
      {},
      /IMPORT_SYMBOLS_DIFFER[^]*BTCUSDT, ETHUSDT/,
    ],
    [
      'a spot pair and its swap',
      { 'BTC-USDT-1m.csv': HEADER + candles(3), 'BTC-USDT-SWAP-1m.csv': HEADER + candles(3) },
      {},
      /IMPORT_MARKETS_DIFFER[^]*BTC-USDT-SWAP[^]*BTC-USDT/,
    ],
    [
      'a spot pair and its swap in one column',
      { 'dump.csv': trades('BTC-USDT', 'BTC-USDT-SWAP') },
      {},
      /IMPORT_MARKETS_DIFFER/,
    ],
    [
      'trades of a swap, which count contracts',
      { 'BTC-USDT-SWAP-trades.csv': trades('BTC-USDT-SWAP') },
      {},
      /IMPORT_VOLUME_UNCLEAR[^]*base_qty/,
    ],
    [
      'a swap as spot',
      { 'BTC-USDT-SWAP-1m.csv': HEADER + candles(3) },
      { market: 'spot' },
      /IMPORT_MARKETS_DIFFER[^]*--market +spot/,
    ],
    [
      'one name of two exchanges',
      {
        'BINANCE_BTCUSDT, 1.csv': HEADER + candles(3),
        'BYBIT_BTCUSDT, 1.csv': HEADER + candles(3),
      },
      {},
      /IMPORT_EXCHANGES_DIFFER[^]*binance[^]*bybit/,
    ],
    [
      'two exchanges of a column',
      { 'BTCUSDT.csv': `exchange,timestamp,price,amount\nbinance,${AT},1,1\nbybit,${AT},2,1\n` },
      {},
      /IMPORT_EXCHANGES_DIFFER/,
    ],
    [
      'a name that names no pair',
      { 'BTC.csv': HEADER + candles(3) },
      {},
      /IMPORT_SYMBOL_UNKNOWN[^]*BTC without/,
    ],
  ])('refused: %s', async (_, files, options, message) => {
    await expect(importFiles(files, options)).rejects.toThrow(message)
    expect(readdirSync(folder)).not.toContain('out')
  })

  it.each([
    'market',
    'Asset',
    'base',
    'Base_Asset',
    'coin',
    'ticker',
    'product',
    'contract',
    'currency_pair',
    'symbol',
  ])('refused: other instruments in a column %s than in the name', async (title) => {
    const rows = (...names: string[]) =>
      `ts_ms,${title},open,high,low,close,volume\n${minutes(4, (row) => `${AT + row * 60_000},${names[row % names.length]},10,12,9,11,5`)}`
    const refuse = (text: string) =>
      expect(importFiles({ 'BTCUSDT-1m.csv': text })).rejects.toThrow(/IMPORT_SYMBOLS_DIFFER/)

    await refuse(rows('SOL-USDT', 'AVAX-USDT'))
    await refuse(rows('SOL', 'AVAX'))
    await refuse(rows('SOL'))
    expect(readdirSync(folder)).not.toContain('out')
    await expect(loadRecording(join(folder, 'BTCUSDT-1m.csv'))).rejects.toThrow(
      /RECORDING_SYMBOLS_DIFFER/,
    )
    expect((await importPrice({ 'BTCUSDT-1m.csv': rows('BTC') })).symbol).toBe('BTCUSDT')
  })

  it('a column market may also say the kind of market, and the exchange', async () => {
    const text = (one: string, other = one) =>
      `ts_ms,market,open,high,low,close,volume\n${minutes(4, (row) => `${AT + row * 60_000},${row % 2 === 0 ? one : other},10,12,9,11,5`)}`

    expect((await importPrice({ 'BTCUSDT-1m.csv': text('spot') })).symbol).toBe('BTCUSDT')
    await expect(importFiles({ 'ETHUSDT-1m.csv': text('spot', 'futures') })).rejects.toThrow(
      /IMPORT_MARKETS_DIFFER/,
    )
    await expect(importFiles({ 'ETHUSDT-1m.csv': text('binance', 'bybit') })).rejects.toThrow(
      /IMPORT_EXCHANGES_DIFFER/,
    )
  })

  it('names of one quote coin and another, and of a contract and the perpetual, are files each', async () => {
    await importFiles({
      'ETH-USDT-1h.csv': HEADER + candles(3, { stepMs: 3_600_000 }),
      'ETH-EUR-1h.csv': HEADER + candles(3, { stepMs: 3_600_000 }),
      'BTCUSDT-1m.csv': HEADER + candles(3),
      'BTCUSDT_250627-1m.csv': HEADER + candles(3),
    })

    expect(written()).toEqual([
      'BTCUSDT-1m.prices',
      'BTCUSDT_250627-1m.prices',
      'ETHEUR-1h.prices',
      'ETHUSDT-1h.prices',
    ])
  })

  it('entries of a zip without a name of its own become a file each', async () => {
    const zip = buildZip({
      'a/BTCUSDT-1m.csv': HEADER + candles(3),
      'ETHUSDT-1m.csv': HEADER + candles(3),
    })

    await importFiles({ 'dump.zip': zip })

    expect(written()).toEqual(['BTCUSDT-1m.prices', 'ETHUSDT-1m.prices'])
  })

  it('a coin alone in the column agrees with the name of its pair', async () => {
    expect((await importPrice({ 'SOLUSDT.csv': trades('SOL') })).symbol).toBe('SOLUSDT')
    expect((await importPrice({ 'dump.csv': trades('SOL') }, { symbol: 'SOLUSD' })).symbol).toBe(
      'SOLUSD',
    )
  })

  it('prices are added to a price file of futures from files that do not say so', async () => {
    const first = await importPrice(
      { 'BTCUSDT-1m.csv': HEADER + candles(3) },
      { market: 'futures' },
    )
    const next = HEADER + candles(3, { from: AT + 180_000 })
    const old = readFileSync(first.written?.file ?? '')

    const both = await importPrice(
      { 'BTCUSDT-futures-1m.prices': old, 'BTCUSDT-1m-next.csv': next },
      { market: 'futures', isReplacing: true },
    )

    expect(both.rows.at).toHaveLength(6)
  })
})

describe('times are of this century', () => {
  it.each([
    ['20250602000000', '20250602000100'],
    ['202506020000', '202506020001'],
    ['20250602 000000', '20250602 000100'],
    ['2025-06-02 00:00', '2025-06-02 00:01'],
  ])('%s is read', async (first, second) => {
    const one = await importPrice({
      'BTCUSDT-1m.csv': `${HEADER}${first},1,1,1,1,1\n${second},1,1,1,1,1\n`,
    })

    expect(columnOf(one, 'at')).toEqual([AT, AT + 60_000])
  })

  const inZone = (title: string, zone: string, time = '2025-06-02 02:0') =>
    `time,${title},open,high,low,close,volume\n${minutes(3, (row) => `${time}${row},${zone},10,12,9,11,5`)}`

  it.each([
    ['timezone', '+02:00', 2],
    ['tz', 'UTC+2', 2],
    ['utc_offset', '2', 2],
    ['UTC Offset', '-0500', -5],
    ['Time Zone', 'UTC', 0],
    ['tz', '', 0],
  ])('the offset that a column says counts: %s %s', async (title, zone, hours) => {
    const one = await importPrice({ 'BTCUSDT-1m.csv': inZone(title, zone) })

    expect(columnOf(one, 'at')[0]).toBe(AT + (2 - hours) * 3_600_000)
  })

  it.each([
    ['timezone', 'Europe/Berlin'],
    ['tz', 'CET'],
    ['utc_offset', '7200'],
  ])('a zone that says no offset is refused: %s %s', async (title, zone) => {
    await expect(importFiles({ 'BTCUSDT-1m.csv': inZone(title, zone) })).rejects.toThrow(
      /IMPORT_ZONE_UNKNOWN[^]*BTCUSDT-1m.csv:2[^]*\+02:00/,
    )
  })

  it('a Unix time, and a date with a zone of its own, are in no other zone', async () => {
    const stamps = minutes(3, (row) => `${AT + row * 60_000},CET,10,12,9,11,5`)
    const unix = await importPrice({
      'BTCUSDT-1m.csv': `time,tz,open,high,low,close,volume\n${stamps}`,
    })
    const own = minutes(3, (row) => `2025-06-02 02:0${row}+02:00,CET,10,12,9,11,5`)
    const dated = await importPrice({
      'ETHUSDT-1m.csv': `time,tz,open,high,low,close,volume\n${own}`,
    })

    expect([columnOf(unix, 'at')[0], columnOf(dated, 'at')[0]]).toEqual([AT, AT])
  })

  it('a day alone is read', async () => {
    const one = await importPrice({
      'BTCUSDT-1d.csv': `${HEADER}20250601,1,1,1,1,1\n20250602,1,1,1,1,1\n`,
    })

    expect(columnOf(one, 'at')).toEqual([AT - 86_400_000, AT])
  })

  it('a day and a time of day in columns of their own are read, as MetaTrader writes them', async () => {
    const header = '<DATE>\t<TIME>\t<OPEN>\t<HIGH>\t<LOW>\t<CLOSE>\t<TICKVOL>\t<VOL>\t<SPREAD>'
    const rows = [
      '2025.06.02\t00:00:00\t10\t12\t9\t11\t7\t5\t1',
      '2025.06.02\t00:01:00\t10\t12\t9\t11\t7\t6\t1',
    ]

    const one = await importPrice({
      'BTCUSD_M1_202506020000_202506020001.csv': [header, ...rows].join('\r\n'),
    })

    expect(columnOf(one, 'at')).toEqual([AT, AT + 60_000])
    expect(columnOf(one, 'volume')).toEqual([5, 6])
  })

  it.each([
    ['before 2009', '1104537600', /RECORDING_TIME_UNIT[^]*csv:2/],
    ['after tomorrow', String(Date.UTC(2025, 6, 4)), /RECORDING_TIME_UNIT[^]*csv:2/],
    [
      'the 30th of February without separators',
      '20250230000000',
      /RECORDING_TIME_UNIT[^]*20250230000000/,
    ],
    [
      'the 30th of February',
      '2025-02-30',
      /RECORDING_NOT_NUMERIC: at[^]*hint +times are Unix seconds/,
    ],
    ['a date of another order', '06/02/2025', /RECORDING_NOT_NUMERIC[^]*2025-06-02 13:00:00/],
  ])('refused: %s', async (_, time, message) => {
    await expect(importFiles({ 'BTCUSDT.csv': `${HEADER}${time},1,1,1,1,1\n` })).rejects.toThrow(
      message,
    )
  })

  it.each([
    [
      'a tenth of a second under the name of a minute',
      { stepMs: 100 },
      'BTCUSDT-1m.csv',
      /name +1m[^]*found +100ms/,
    ],
    [
      'five minutes under the name of one',
      { stepMs: 300_000 },
      'BTCUSDT-1m.csv',
      /name +1m[^]*found +5m/,
    ],
    ['a minute under the name of an hour', {}, 'BTCUSDT_1h.csv', /name +1h[^]*found +1m/],
    [
      'a minute under the name of an hour, of MetaTrader',
      {},
      'BTCUSD_H1_2025.csv',
      /name +1h[^]*found +1m/,
    ],
  ])('refused: %s', async (_, steps, name, message) => {
    const importing = importFiles({ [name]: HEADER + candles(50, steps) })

    await expect(importing).rejects.toThrow(/IMPORT_INTERVAL_DIFFERS/)
    await expect(importing).rejects.toThrow(message)
  })

  it('an interval that changes in the middle is refused with its place', async () => {
    const rows = candles(100, { stepMs: 300_000 }) + candles(1000, { from: AT + 100 * 300_000 })

    await expect(importFiles({ 'BTCUSDT.csv': HEADER + rows })).rejects.toThrow(
      /RECORDING_INTERVAL_CHANGES[^]*BTCUSDT.csv:2[^]*5m[^]*1m/,
    )
  })
})

describe('rows of one time', () => {
  const lines = [
    [1, 40],
    [1, 30],
    [0, 20],
    [0, 10],
  ] as const
  const trades = `timestamp,price,size\n${lines.map(([second, price]) => `${AT / 1000 + second},${price},1\n`).join('')}`

  it('are trades in the order against that of a file that runs backwards', async () => {
    const one = await importPrice({ 'BTCUSDT.csv': trades })

    expect([columnOf(one, 'open'), columnOf(one, 'close')]).toEqual([[10], [40]])
  })

  it('are trades in the order of a file that runs forwards', async () => {
    const forwards = `timestamp,price,size\n${lines
      .toReversed()
      .map(([second, price]) => `${AT / 1000 + second},${price},1\n`)
      .join('')}`

    const one = await importPrice({ 'BTCUSDT.csv': forwards })

    expect([columnOf(one, 'open'), columnOf(one, 'close')]).toEqual([[10], [40]])
  })

  it('are quotes in the order against that of a file that runs backwards, named by their lines', async () => {
    const quotes = [
      [1, 13],
      [1, 12],
      [0, 11],
      [0, 0],
      [0, 10],
    ] as const
    const text = quotes.map(([second, last]) => `${AT + second * 1000},9,10,1,1,${last}\n`).join('')

    const one = await importPrice({ 'BTCUSDT.csv': `ts_ms,bid,ask,bidSz,askSz,last\n${text}` })

    expect(one.rows.kind === 'quotes' && [...one.rows.last]).toEqual([10, 11, 12, 13])
    expect(one.findings).toMatchObject({
      disorder: { count: 1, first: 'BTCUSDT.csv:4' },
      zeroPrices: { count: 1, first: 'BTCUSDT.csv:5' },
    })
  })
})

describe('times of closes', () => {
  const closed = HEADER + candles(3, { from: AT + 59_999 })

  it.each([
    ['a millisecond before the end', closed],
    ['a second before the end', HEADER + candles(3, { from: AT + 59_000 })],
    [
      'under the name of a close',
      `close_time,${HEADER.slice(6)}${candles(3, { from: AT + 60_000 })}`,
    ],
  ])('%s become those of the opens, which is said', async (_, text) => {
    const one = await importPrice({ 'BTCUSDT-1m.csv': text }, { isStrict: true })

    expect(columnOf(one, 'at')).toEqual([AT, AT + 60_000, AT + 120_000])
    expect(one.remarks).toEqual([expect.stringMatching(/times were those of the closes/)])
    expect(one.written).toBeDefined()
  })

  it('of days and of weeks too', async () => {
    const day = await importPrice({
      'BTCUSDT-1d.csv': `${HEADER}2025-06-01 23:59:59,1,1,1,1,1\n2025-06-02 23:59:59,1,1,1,1,1\n`,
    })
    const week = await importPrice({
      'ETHUSDT-1w.csv': `${HEADER}${Date.UTC(2025, 5, 9) - 1},1,1,1,1,1\n${Date.UTC(2025, 5, 16) - 1},1,1,1,1,1\n`,
    })

    expect(columnOf(day, 'at')).toEqual([AT - 86_400_000, AT])
    expect(columnOf(week, 'at')).toEqual([AT, AT + 7 * 86_400_000])
  })

  it('beside an instrument with times of opens are refused under --strict, and nothing is written', async () => {
    const files = { 'BTCUSDT-1m.csv': HEADER + candles(3), 'ETHUSDT-1m.csv': closed }

    await expect(importFiles(files, { isStrict: true })).rejects.toThrow(
      /IMPORT_STAMPS_DIFFER[^]*by close +ETHUSDT[^]*by open +BTCUSDT/,
    )
    expect(readdirSync(folder)).not.toContain('out')
    expect(await importFiles(files)).toHaveLength(2)
  })
})

describe('a zip', () => {
  it('with a text about it is read, and the text named', async () => {
    const zip = buildZip({
      'README.md': 'hello',
      'BTCUSDT-1m.csv': HEADER + candles(3),
      'x.CHECKSUM': 'abc',
    })

    const one = await importPrice({ 'BTCUSDT-1m.zip': zip })

    expect(one.remarks).toEqual(['left aside in BTCUSDT-1m.zip: README.md, x.CHECKSUM'])
  })

  it.each([{}, { 'README.txt': 'hello' }])('without prices is refused', async (entries) => {
    await expect(
      importFiles({ 'BTCUSDT-1m.zip': buildZip({ '.hidden': 'x', ...entries }) }),
    ).rejects.toThrow(/RECORDING_EMPTY: the zip holds no file of prices/)
  })
})

describe('what is missing in a header is named', () => {
  it.each([
    ['time,open,high,low,close\n1,1,1,1,1\n', /missing +volume, for candles/],
    ['Date,Open,High\n1,1,1\n', /missing +low, close, volume, for candles/],
    ['open,high,low,close,volume\n1,1,1,1,1\n', /missing +a time, for candles/],
    [
      'time,open,high,low,close,tick_volume\n1,1,1,1,1,1\n',
      /a volume in the base coin \(tick_volume is none\)/,
    ],
    [
      'time,open,high,low,close,turnover\n1,1,1,1,1,1\n',
      /a volume in the base coin \(turnover is none\)/,
    ],
    [
      'time,open,high,low,close,Volume USDT\n1,1,1,1,1,1\n',
      /a volume in the base coin \(Volume USDT is none\)/,
    ],
    [
      'Date,Open,High,Low,Close,Adj Close,Volume\n1,1,1,1,1,1,1\n',
      /a volume in the base coin \(Volume is none\)/,
    ],
    ['timestamp,ask_amount,ask_price,bid_price,bid_amount\n1,1,1,1,1\n', /IMPORT_SHAPE_UNKNOWN/],
    ['ts_ms,open,high,low,close,fundingRate\n1,1,1,1,1,1\n', /missing +volume, for candles/],
  ])('%s', async (text, message) => {
    await expect(importFiles({ 'BTCUSDT.csv': text })).rejects.toThrow(message)
  })
})

describe('the volume is the one in the base coin', () => {
  const of = (header: string, volumes: string) =>
    `${header}\n${AT},10,12,9,11,${volumes}\n${AT + 60_000},11,12,10,11,${volumes}\n`

  it.each([
    ['of cryptodatadownload', 'unix,open,high,low,close,Volume BTC,Volume USDT', '5,53', 5],
    [
      'of cryptodatadownload in another order',
      'unix,open,high,low,close,Volume USDT,Volume BTC',
      '53,5',
      5,
    ],
    [
      'of a list in brackets',
      'Timestamp,Open,High,Low,Close,Volume_(BTC),Volume_(Currency)',
      '5,53',
      5,
    ],
    ['of TradingView', 'time,open,high,low,close,Volume', '5', 5],
    ['of OKX’s swaps, which count contracts', 'ts,o,h,l,c,vol,volCcy,volCcyQuote', '500,5,53', 5],
    ['of OKX’s spot', 'ts,o,h,l,c,vol,volCcy,volCcyQuote', '5,53,53', 5],
    [
      'of Binance’s coin-margined futures, which count contracts of 100 USD',
      'open_time,open,high,low,close,volume,quote_volume',
      '0.53,5',
      5,
    ],
    [
      'of Bybit’s inverse futures, which count dollars',
      'start,open,high,low,close,volume,turnover',
      '53,5',
      5,
    ],
    ['of MetaTrader', 'time,open,high,low,close,tick_volume,spread,real_volume', '99,1,5', 5],
    [
      'of a base and a quote volume',
      'time,open,high,low,close,quote_volume,base_volume',
      '53,5',
      5,
    ],
  ])('%s', async (_, header, volumes, base) => {
    expect(columnOf(await importPrice({ 'BTCUSD.csv': of(header, volumes) }), 'volume')).toEqual([
      base,
      base,
    ])
  })

  it('the address of the vendor may stand above the header', async () => {
    const text = `https://www.CryptoDataDownload.com\n${of('unix,symbol,open,high,low,close,Volume BTC,Volume USD', '5,53').replaceAll(/^(\d+),/gm, '$1,BTC/USD,')}`

    expect((await importPrice({ 'Bitstamp_BTCUSD_minute.csv': text })).symbol).toBe('BTCUSD')
  })

  it('of trades of Bybit’s inverse futures is what they were worth', async () => {
    const text = `timestamp,symbol,side,size,price,homeNotional,foreignNotional\n${AT / 1000},BTCUSD,Buy,60000,60000,60000,1\n`

    expect(columnOf(await importPrice({ 'BTCUSD2025-06-02.csv': text }), 'volume')).toEqual([1])
  })

  it.each([
    [
      'volumes that fit nothing',
      of('time,open,high,low,close,volume,quote_volume', '5,777'),
      'BTCUSDT.csv',
      /IMPORT_VOLUME_UNCLEAR[^]*times volume times price/,
    ],
    [
      'no volume but that of ticks',
      of('time,open,high,low,close,tick_volume,real_volume', '99,0'),
      'BTCUSDT.csv',
      /IMPORT_VOLUME_UNCLEAR[^]*tick volume/,
    ],
    [
      'trades of a coin-margined future',
      `id,price,qty,from,to,time,is\n1,10,5,1,1,${AT},true\n`,
      'BTCUSD_PERP-aggTrades-2025-06.csv',
      /IMPORT_VOLUME_UNCLEAR[^]*contracts/,
    ],
  ])('refused: %s', async (_, text, name, message) => {
    await expect(importFiles({ [name]: text })).rejects.toThrow(message)
  })
})

it('columns in another order than their place says are refused, and not dropped row by row', async () => {
  // KuCoin: time, open, close, high, low.
  const rows = minutes(30, (minute) => `${AT / 1000 + minute * 60},10,11,12,9,5`)

  await expect(importFiles({ 'BTCUSDT-1m.csv': rows })).rejects.toThrow(
    /RECORDING_CANDLE_IMPOSSIBLE[^]*impossible +30[^]*columns stand in another order/,
  )
})

describe('funding', () => {
  const HOUR = 3_600_000
  const paid = [0, 8, 16].map((hour) => AT + hour * HOUR)
  const rates = [0.0001, -0.00005, 0.00012]
  const table = (header: string, row: (at: number, rate: number) => string) =>
    `${header}\n${paid.map((at, index) => `${row(at, rates[index] as number)}\n`).join('')}`

  it.each([
    [
      'Binance’s',
      'BTCUSDT-fundingRate-2025-06.csv',
      table(
        'calc_time,funding_interval_hours,last_funding_rate',
        (at, rate) => `${at + 3},8,${rate}`,
      ),
    ],
    [
      'Bybit’s',
      'dump.csv',
      table('symbol,fundingRate,fundingRateTimestamp', (at, rate) => `BTCUSDT,${rate},${at}`),
    ],
    [
      'OKX’s, of what was paid',
      'allswap-fundingrates-2025-06-02.csv',
      table(
        'instrument_name,contract_type,funding_rate,real_funding_rate,funding_time',
        (at, rate) => `BTC-USDT-SWAP,SWAP,0.0009,${rate},${at}`,
      ),
    ],
    [
      'Bitget’s',
      'x.csv',
      table('symbol,fundingRate,fundingTime', (at, rate) => `BTCUSDT,${rate},${at}`),
    ],
    [
      'an answer of an exchange',
      'x.json',
      JSON.stringify({
        result: {
          list: paid
            .map((at, row) => ({
              symbol: 'BTCUSDT',
              fundingRate: String(rates[row]),
              fundingRateTimestamp: String(at),
            }))
            .toReversed(),
        },
      }),
    ],
    [
      'freqtrade’s',
      'BTC_USDT_USDT-8h-funding_rate.json',
      JSON.stringify(paid.map((at, row) => [at, rates[row], 0, 0, 0, 0])),
    ],
    [
      'in percent with their sign',
      'BTCUSDT.csv',
      table('time,Funding Rate', (at, rate) => `${at},${(rate * 100).toFixed(4)}%`),
    ],
    [
      'our own',
      'BTCUSDT-funding.csv',
      table('ts_ms,symbol,fundingRate', (at, rate) => `${at},BTCUSDT,${rate}`),
    ],
  ])('%s becomes a row for each payment', async (_, name, text) => {
    const [one] = await importFiles({ [name]: text }, { market: 'futures' })

    const file = join(folder, 'out', 'BTCUSDT-futures-funding.csv')
    expect(one).toMatchObject({
      symbol: 'BTCUSDT',
      name: 'funding',
      gaps: { count: 0 },
      written: { file },
    })
    expect(readFileSync(file, 'utf8')).toBe(
      table(
        'ts_ms,symbol,fundingRate',
        (at, rate) => `${at},BTCUSDT,${rate === -0.00005 ? '-0.00005' : rate}`,
      ),
    )
    const { at, ...read } = parseFunding({ bytes: readFileSync(file), source: file })
    expect([[...at], read]).toEqual([paid, { symbol: 'BTCUSDT', rates: Float64Array.from(rates) }])
  })

  it('of several instruments becomes a file each, and prices beside it stay prices', async () => {
    const text = table(
      'symbol,fundingTime,fundingRate',
      (at, rate) => `BTCUSDT,${at},${rate}\nETHUSDT,${at},${rate}`,
    )

    await importFiles({ 'all.csv': text, 'BTCUSDT-1m.csv': HEADER + candles(3) })

    expect(written()).toEqual(['BTCUSDT-1m.prices', 'BTCUSDT-funding.csv', 'ETHUSDT-funding.csv'])
  })

  it('periods may change; a payment that is missing, and one twice, are named', async () => {
    const hours = [0, 8, 16, 24, 40, 48, 52, 56, 60, 60]
    const rows = hours.map((hour) => `${AT + hour * HOUR},0.0001\n`).join('')

    const [one] = await importFiles({
      'BTCUSDT-1.csv': `time,fundingRate\n${rows}`,
      'BTCUSDT-2.csv': `time,fundingRate\n${AT + 60 * HOUR},0.0002\n`,
    })

    expect(one?.gaps).toEqual({ count: 1, longestMs: 16 * HOUR, longestFrom: AT + 24 * HOUR })
    expect(one?.findings).toMatchObject({
      duplicates: { count: 2, first: 'BTCUSDT-1.csv:11' },
      conflicts: { count: 1, first: 'BTCUSDT-2.csv:2' },
    })
  })

  it.each([
    [
      'rates that are no payments',
      `time,fundingRate\n${AT + 600_000},0.0001\n`,
      /IMPORT_FUNDING_TIME[^]*csv:2/,
    ],
    [
      'rates in percent',
      table('time,fundingRate', (at) => `${at},0.01`),
      /IMPORT_FUNDING_PERCENT[^]*0.01/,
    ],
  ])('refused: %s', async (_, text, message) => {
    await expect(importFiles({ 'BTCUSDT.csv': text })).rejects.toThrow(message)
  })

  it.each([
    [
      'payments of two',
      `ts_ms,symbol,fundingRate\n${AT},BTCUSDT,0\n${AT + HOUR},ETHUSDT,0\n`,
      /BTCUSDT and of ETHUSDT/,
    ],
    ['a time twice', `ts_ms,symbol,fundingRate\n${AT},BTCUSDT,0\n${AT},BTCUSDT,0\n`, /x.csv:3/],
    ['no whole hour', `ts_ms,symbol,fundingRate\n${AT + 1},BTCUSDT,0\n`, /x.csv:2[^]*whole hour/],
    ['no row', 'ts_ms,symbol,fundingRate\n', /no row/],
  ])('a file of payments is refused: %s', (_, text, message) => {
    expect(() => parseFunding({ bytes: Buffer.from(text), source: 'x.csv' })).toThrow(
      /FUNDING_UNREADABLE/,
    )
    expect(() => parseFunding({ bytes: Buffer.from(text), source: 'x.csv' })).toThrow(message)
  })
})

describe('trades', () => {
  const TRADES = 'id,price,qty,quote_qty,time,is_buyer_maker\n'
  const trade = (
    id: number | string,
    second: number,
    { price = 100 + Number(id), size = 1 } = {},
  ) => `${id},${price},${size},${price * size},${AT + second * 1000},true\n`

  it('that stand twice count once, in one file and in two', async () => {
    const text = TRADES + trade(1, 1) + trade(1, 1) + trade(2, 1)

    const one = await importPrice({ 'BTCUSDT-trades-a.csv': text })
    const two = await importPrice(
      {
        'BTCUSDT-trades-a.csv': TRADES + trade(1, 1) + trade(2, 1),
        'BTCUSDT-trades-b.csv': TRADES + trade(2, 1) + trade(3, 2),
      },
      { isReplacing: true },
    )

    expect([columnOf(one, 'volume'), columnOf(two, 'volume')]).toEqual([[2], [3]])
    expect(one.findings.duplicates).toEqual({ count: 1, first: 'BTCUSDT-trades-a.csv:3' })
    expect(two.findings.duplicates).toEqual({ count: 1, first: 'BTCUSDT-trades-b.csv:2' })
  })

  it('without a header count once too, and ids longer than a float holds stay apart', async () => {
    const long = '9007199254740993001'
    const plain = await importPrice({ 'BTCUSDT-trades.csv': trade(1, 1) + trade(1, 1) })
    const ids = [long, '9007199254740993002', long, '', '']
      .map((id) => trade(id, 1, { price: 100 }))
      .join('')
    const others = await importPrice({ 'ETHUSDT-trades.csv': TRADES + ids })

    expect([columnOf(plain, 'volume'), columnOf(others, 'volume')]).toEqual([[1], [4]])
  })

  it('of a minute that is cut over two files make one candle, in whichever order the files are', async () => {
    const files = {
      'BTCUSDT-trades-b.csv': TRADES + trade(3, 31) + trade(4, 90),
      'BTCUSDT-trades-a.csv': TRADES + trade(1, 1) + trade(2, 30),
    }
    const bare = (text: string) => text.replaceAll(/^[^,]*,/gm, '')

    const one = await importPrice(files)
    const withoutIds = await importPrice(
      Object.fromEntries(Object.entries(files).map(([name, text]) => [name, bare(text)])),
      { isReplacing: true },
    )

    for (const { findings, ...read } of [one, withoutIds]) {
      expect(columnOf({ findings, ...read }, 'open')).toEqual([101, 104])
      expect(columnOf({ findings, ...read }, 'close')).toEqual([103, 104])
      expect(columnOf({ findings, ...read }, 'volume')).toEqual([3, 1])
      expect([findings.duplicates.count, findings.conflicts.count]).toEqual([0, 0])
    }
  })

  it('of two files that are the same, without ids, count once', async () => {
    const text = `timestamp,price,size\n${`${AT},100,1\n`.repeat(2)}`

    const one = await importPrice({ 'BTCUSDT-a.csv': text, 'BTCUSDT-b.csv': text })

    expect([columnOf(one, 'volume'), one.findings.duplicates.count]).toEqual([[2], 2])
  })

  it('with signed sizes, as Bitfinex writes them, are sells where no column says the side', async () => {
    const rows = [5, -3, -2, 4].map((size, row) => `${9 - row},${AT + row * 1000},${size},100\n`)
    const one = await importPrice({ 'BTCUSD-trades.csv': `ID,MTS,AMOUNT,PRICE\n${rows.join('')}` })

    expect([columnOf(one, 'volume'), one.findings.impossible.count]).toEqual([[14], 0])
    expect(one.remarks).toEqual(['sizes below zero of AMOUNT are sells of that size'])
  })

  it.each([
    ['time,side,price,size', (row: number) => `${row % 2 === 0 ? 'buy,100,1' : 'sell,100,-1'}`],
    ['time,price,size', () => '100,-1'],
  ])('a third and more of sizes below zero are refused: %s', async (header, cells) => {
    const text = `${header}\n${minutes(30, (row) => `${AT + row * 1000},${cells(row)}`)}`

    await expect(importFiles({ 'BTCUSDT-trades.csv': text })).rejects.toThrow(
      /IMPORT_TRADES_IMPOSSIBLE[^]*first +BTCUSDT-trades.csv:[23]/,
    )
  })

  it('of a size below zero are dropped', async () => {
    const one = await importPrice({
      'BTCUSDT-trades.csv': TRADES + trade(1, 1, { size: -3 }) + trade(2, 2),
    })

    expect([columnOf(one, 'open'), columnOf(one, 'volume')]).toEqual([[102], [1]])
    expect(one.findings.impossible).toEqual({ count: 1, first: 'BTCUSDT-trades.csv:2' })
  })
})

describe('candles', () => {
  it('that had not ended are dropped, which is said', async () => {
    const rows = minutes(3, (row) => `${AT + row * 60_000},10,12,9,11,5,${row === 2 ? 0 : 1}`)

    const one = await importPrice({
      'BTCUSDT-1m.csv': `ts,open,high,low,close,volume,confirm\n${rows}`,
    })

    expect(columnOf(one, 'at')).toHaveLength(2)
    expect(one.remarks).toEqual([
      expect.stringMatching(/had not ended[^]*1, the first BTCUSDT-1m.csv:4/),
    ])
  })

  it.each<[string, string, string, RegExp]>([
    [
      'a column twice with other numbers',
      'BTCUSDT-1m.csv',
      `ts_ms,open,high,low,close,Close,volume\n${AT},10,12,9,11,10,5\n`,
      /IMPORT_COLUMNS_DIFFER[^]*csv:2[^]*close[^]*11[^]*Close[^]*10/,
    ],
    [
      'a month',
      'BTCUSDT.csv',
      `${HEADER}${[0, 1, 2, 3, 4].map((month) => `${Date.UTC(2024, month)},10,12,9,11,5\n`).join('')}`,
      /IMPORT_INTERVAL_MONTHS[^]*BTCUSDT.csv/,
    ],
    ['a month, by the name alone', 'BTCUSDT-1M.csv', HEADER + candles(1), /IMPORT_INTERVAL_MONTHS/],
  ])('refused: %s', async (_, name, text, message) => {
    await expect(importFiles({ [name]: text })).rejects.toThrow(message)
  })

  it('a column twice with the same numbers is read', async () => {
    const text = `ts_ms,open,high,low,close,close,volume\n${AT},10,12,9,11,11,5\n`

    expect(columnOf(await importPrice({ 'BTCUSDT-1m.csv': text }), 'close')).toEqual([11])
  })
})

describe('a zip that is none of files', () => {
  it.each<[string, Uint8Array, RegExp]>([
    ['empty', buildZip({}), /RECORDING_EMPTY: the zip holds no file of prices/],
    [
      'in a zip',
      buildZip({ 'inner.zip': buildZip({ 'BTCUSDT.csv': 'x' }) }),
      /RECORDING_ZIP_UNSUPPORTED[^]*inner.zip/,
    ],
  ])('%s is refused in words', async (_, bytes, message) => {
    await expect(importFiles({ 'BTCUSDT-1m.zip': bytes })).rejects.toThrow(message)
  })

  it('is no recording, and is called a zip', async () => {
    const path = join(folder, 'BTCUSDT-1m.zip')
    writeFileSync(path, buildZip({ 'BTCUSDT-1m.csv': HEADER }))

    await expect(loadRecording(path)).rejects.toThrow(
      /RECORDING_HEADER_UNKNOWN[^]*found +a zip[^]*import/,
    )
  })
})

it('a price file of another instrument than its spec says is refused', async () => {
  const one = await importPrice({ 'ETHUSDT-1m.csv': HEADER + candles(3) })

  await expect(loadRecording(`BTCUSDT=${one.written?.file}`)).rejects.toThrow(
    /RECORDING_SYMBOLS_DIFFER[^]*BTCUSDT[^]*ETHUSDT/,
  )
})

describe('rates that were not paid', () => {
  const HOUR = 3_600_000

  it('the time of the payment counts, not that of the row', async () => {
    const rows = minutes(
      16,
      (hour) => `BTCUSDT,0.0001,${AT + hour * HOUR},${AT + (Math.floor(hour / 8) + 1) * 8 * HOUR}`,
    )

    const [one] = await importFiles({
      'dump.csv': `symbol,fundingRate,timestamp,fundingTime\n${rows}`,
    })

    expect(one).toMatchObject({ findings: { duplicates: { count: 14 } } })
    expect(one && 'at' in one && [...one.at]).toEqual([AT + 8 * HOUR, AT + 16 * HOUR])
  })

  it.each([
    [
      'several for a payment',
      `fundingRate,timestamp,fundingTime\n0.0001,${AT},${AT}\n0.0002,${AT + HOUR},${AT}\n`,
      /IMPORT_FUNDING_PREDICTED[^]*csv:3[^]*0.0002/,
    ],
    [
      'a time of the next payment',
      `timestamp,fundingRate,nextFundingTime\n${AT},0.0001,${AT + HOUR}\n`,
      /IMPORT_FUNDING_PREDICTED[^]*nextFundingTime/,
    ],
    [
      'one of 500 %',
      `time,fundingRate\n${minutes(5, (row) => `${AT + row * 8 * HOUR},${row === 2 ? 5 : 0.0001}`)}`,
      /IMPORT_FUNDING_RATE[^]*csv:4[^]*5/,
    ],
  ])('refused: %s', async (_, text, message) => {
    await expect(importFiles({ 'BTCUSDT.csv': text })).rejects.toThrow(message)
  })

  it('a period that the times contradict is named, one that changes is not', async () => {
    const text = (hours: readonly (readonly [number, number])[]) =>
      `calc_time,funding_interval_hours,last_funding_rate\n${hours.map(([hour, period]) => `${AT + hour * HOUR},${period},0.0001\n`).join('')}`
    const wrong = [0, 8, 16].map((hour) => [hour, 4] as const)
    const changes = [
      [0, 8],
      [8, 8],
      [16, 4],
      [20, 4],
      [24, 8],
      [32, 8],
    ] as const

    const [one] = await importFiles({ 'BTCUSDT.csv': text(wrong) }, { isStrict: true })
    const [two] = await importFiles({ 'ETHUSDT.csv': text(changes) })

    expect(one?.written).toBeUndefined()
    expect(one?.findings).toMatchObject({ otherPeriods: { count: 2, first: 'BTCUSDT.csv:3' } })
    expect(two?.findings).toMatchObject({ otherPeriods: { count: 0 } })
  })
})

describe('what cannot be known is asked for', () => {
  const header = 'ts_ms,open,high,low,close,volume\n'
  const row = (minute: number, rest = '1,1,1,1,512.50') => `${AT + minute * 60_000},${rest}\n`
  const rows = Array.from({ length: 15 }, (_, minute) => row(minute)).join('')

  it.each([
    ['one candle', 'BTCUSDT.csv', header + row(0), /IMPORT_INTERVAL_UNKNOWN[^]*BTCUSDT-1h.csv/],
    [
      'times that a spreadsheet rounded',
      'BTCUSDT-1m.csv',
      `${header}1.74882E+12,1,1,1,1,5\n`,
      /RECORDING_NOT_NUMERIC[^]*rounded[^]*csv:2[^]*format the column/,
    ],
    [
      'a quotation mark that is not closed',
      'BTCUSDT-1m.csv',
      header + rows + row(15, '"1,1,1,1,5'),
      /not closed[^]*csv:17/,
    ],
    [
      'a last row that ends within its last number',
      'BTCUSDT-1m.csv',
      header + rows + row(15, '1,1,1,1,512.5').trimEnd(),
      /RECORDING_ROW_LENGTH[^]*middle of a number[^]*csv:17/,
    ],
    [
      'candles without a volume',
      'BTCUSDT-1m.csv',
      `time,open,high,low,close\n${AT},1,1,1,1\n`,
      /missing +volume[^]*none is assumed/,
    ],
    [
      'rows of MetaTrader 4',
      'BTCUSD_M1.csv',
      '2025.06.02,13:00,1,1,1,1,55\n2025.06.02,13:01,1,1,1,1,55\n',
      /missing +a header, a volume in the base coin \(MetaTrader/,
    ],
    [
      'trades without a header',
      'XBTUSD.csv',
      `67000.1,0.5,${AT / 1000}.1234\n67000.2,0.5,${AT / 1000 + 1}.5\n`,
      /missing +a header such as time,price,volume, for trades/,
    ],
    [
      'columns in the order of another vendor, of which most rows could be',
      'DOTUSD.csv',
      Array.from({ length: 30 }, (_, minute) =>
        row(minute, minute === 20 ? '9,12,10,11,5' : '10,10,10,10,5'),
      ).join(''),
      /RECORDING_CANDLE_IMPOSSIBLE[^]*csv:21[^]*header/,
    ],
    [
      'quotes without a last price',
      'binance-futures_quotes_UNIUSDT.csv',
      `timestamp,ask_amount,ask_price,bid_price,bid_amount\n${AT},1,2,1,1\n`,
      /missing +last, for quotes/,
    ],
    [
      'lines that end in a carriage return',
      'BTCUSDT-1m.csv',
      (header + rows).replaceAll('\n', '\r'),
      /carriage return alone/,
    ],
  ])('%s', async (_, name, text, message) => {
    await expect(importFiles({ [name]: text })).rejects.toThrow(message)
  })

  it('text in UTF-16', async () => {
    await expect(
      importFiles({ 'BTCUSDT-1m.csv': Buffer.from(header + rows, 'utf16le') }),
    ).rejects.toThrow(/UTF-16[^]*CSV UTF-8/)
  })

  it('files of one candle each say their interval together, or by their names', async () => {
    const [day] = await importFiles({
      'BTCUSDT-a.csv': header + row(0),
      'BTCUSDT-b.csv': header + row(1440),
    })
    const [hour] = await importFiles({ 'ETHUSDT-1h.csv': header + row(0) })

    expect([day, hour].map((one) => one && 'intervalMs' in one && one.intervalMs)).toEqual([
      86_400_000, 3_600_000,
    ])
  })

  it('a last row without an end of line is whole where numbers have other lengths too', async () => {
    const some = rows.replace('512.50', '512.125')

    const [one] = await importFiles({
      'BTCUSDT-1m.csv': header + some + row(15, '1,1,1,1,512.5').trimEnd(),
    })

    expect(one).toMatchObject({ rows: { at: { length: 16 } } })
  })
})

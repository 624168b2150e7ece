import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createRandom } from '../../src/lib/random.ts'
import { loadRecording } from '../../src/prices/load-recording.ts'
import { parseRecording } from '../../src/prices/parse-recording.ts'

const CANDLES =
  'ts_ms,open,high,low,close,volume\n1748538300000,10,12,9,11,5.5\n1748538360000,11,11,11,11,0\n'
const QUOTES = 'ts_ms,bid,ask,bidSz,askSz,last\n1723161254180,9.9,10,1,2,10\n'
const parse = (text: string) =>
  parseRecording({ bytes: Buffer.from(text), source: 'BTCUSDT-x.csv' })

let folder = ''
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'recording-'))
})
afterAll(() => rm(folder, { recursive: true }))

async function put(name: string, contents: string | Uint8Array): Promise<string> {
  await writeFile(join(folder, name), contents)
  return join(folder, name)
}

describe('loading a recording', () => {
  it('reads plain and gzipped files alike, with the symbol from the name', async () => {
    const plain = await loadRecording(await put('BTCUSDT-perp.csv', CANDLES))
    const packed = await loadRecording(await put('BTCUSDT-perp.csv.gz', gzipSync(CANDLES)))

    expect(plain.symbol).toBe('BTCUSDT')
    expect(packed).toEqual({ ...plain, source: 'BTCUSDT-perp.csv.gz' })
    expect(plain.rows).toMatchObject({ kind: 'candles', high: Float64Array.of(12, 11) })
  })

  it('takes the symbol that stands before the path', async () => {
    const file = await put('prices.csv', QUOTES)

    expect((await loadRecording(`ETHUSDT=${file}`)).symbol).toBe('ETHUSDT')
    await expect(loadRecording(file)).rejects.toThrow(
      /RECORDING_SYMBOL_MISSING[^]*BTCUSDT=prices.csv/,
    )
  })

  it('tells what is wrong with a file', async () => {
    const packed = gzipSync(CANDLES)
    const notGzip = await put('A.csv.gz', CANDLES)
    const cut = await put('B.csv.gz', packed.subarray(0, packed.length - 12))
    const damaged = await put(
      'C.csv.gz',
      Buffer.concat([packed.subarray(0, 12), Buffer.alloc(40, 7)]),
    )
    const empty = await put('BTCUSDT-empty.csv', '')

    await expect(loadRecording(join(folder, 'none.csv'))).rejects.toThrow(
      /RECORDING_UNREADABLE[^]*ENOENT/,
    )
    await expect(loadRecording(notGzip)).rejects.toThrow(/RECORDING_NOT_GZIP[^]*rename/)
    await expect(loadRecording(cut)).rejects.toThrow(/RECORDING_GZIP_TRUNCATED[^]*again/)
    await expect(loadRecording(damaged)).rejects.toThrow(/RECORDING_GZIP_DAMAGED/)
    await expect(loadRecording(empty)).rejects.toThrow(
      /RECORDING_EMPTY: the file is empty[^]*where +BTCUSDT-empty.csv/,
    )
  })
})

it.each([
  ['C98USDT-1m.csv', 'C98USDT'],
  ['1000PEPEUSDT-1m.csv', '1000PEPEUSDT'],
  ['BINANCE_BTCUSDT, 1.csv', 'BTCUSDT'],
  ['ETH-EUR-1h.csv', 'ETHEUR'],
  ['BTCUSDT_250627-1m.csv', 'BTCUSDT_250627'],
])('a recording %s is of %s, as an import of it is', async (name, symbol) => {
  expect((await loadRecording(await put(name, CANDLES))).symbol).toBe(symbol)
})

it('a symbol with a delivery date can stand before the path', async () => {
  const file = await put('prices.csv', CANDLES)

  expect((await loadRecording(`BTCUSDT_250627=${file}`)).symbol).toBe('BTCUSDT_250627')
})

describe('reading the text of a recording', () => {
  it('accepts a byte order mark, carriage returns, other orders of columns and further ones', () => {
    const text =
      '\uFEFFsymbol,volume,close,low,high,open,ts_ms\r\nBTC/USDT,5,11,9,12,10,1748538300000\r\n\r\n'

    expect(parse(text).rows).toMatchObject({
      open: Float64Array.of(10),
      volume: Float64Array.of(5),
    })
    expect(parse(QUOTES).rows).toMatchObject({ kind: 'quotes', askSize: Float64Array.of(2) })
    expect(parse(QUOTES.replaceAll(',', ';')).rows).toEqual(parse(QUOTES).rows)
    expect(parse(QUOTES.replaceAll(',', '\t')).rows).toEqual(parse(QUOTES).rows)
  })

  it('accepts cells in quotes, and the line that Excel puts above the header', () => {
    const quoted = CANDLES.replaceAll(/[^,\n]+/g, '"$&"').replaceAll('\n', '\r\n')

    expect(parse(quoted).rows).toEqual(parse(CANDLES).rows)
    expect(parse(`sep=;\r\n${quoted.replaceAll(',', ';')}`).rows).toEqual(parse(CANDLES).rows)
    expect(parse(`\uFEFFsep=,\n${CANDLES}`).rows).toEqual(parse(CANDLES).rows)
  })

  const row = (at: number | string, rest: string) => `${CANDLES}${at},${rest}\n`
  const refused: [string, string, RegExp][] = [
    [
      'a header of neither kind',
      'time,price\n1,2\n',
      /RECORDING_HEADER_UNKNOWN[^]*BTCUSDT-x.csv:1[^]*ts_ms,open/,
    ],
    [
      'no rows',
      'ts_ms,open,high,low,close,volume\n\n',
      /RECORDING_EMPTY: there is no row below the header[^]*BTCUSDT-x.csv:2/,
    ],
    [
      'an empty first line',
      '\nts_ms,open\n',
      /RECORDING_EMPTY: the line of the header is empty[^]*BTCUSDT-x.csv:1/,
    ],
    [
      'a comma for a dot',
      'ts_ms;open;high;low;close;volume\n1748538300000;10,5;12;9;11;5\n',
      /RECORDING_NOT_NUMERIC: open[^]*:2[^]*"10,5"[^]*with a dot/,
    ],
    [
      'a field that is no number',
      row(1748538420000, '11,11,eleven,11,0'),
      /RECORDING_NOT_NUMERIC: low[^]*:4[^]*"eleven"/,
    ],
    [
      'another separator than the header',
      `${CANDLES}1748538420000;11;11;1;11;0\n`,
      /RECORDING_SEPARATOR[^]*";"[^]*those of the header by ","[^]*:4[^]*same separator/,
    ],
    ['an empty field', row(1748538420000, '11,11,,11,0'), /RECORDING_NOT_NUMERIC[^]*:4/],
    ['hexadecimal', row(1748538420000, '11,0x10,1,11,0'), /RECORDING_NOT_NUMERIC[^]*0x10/],
    ['a quote too few', row(1748538420000, '11,"1"1,1,11,0'), /RECORDING_NOT_NUMERIC[^]*:4/],
    [
      'the same below sep=',
      `sep=,\n${row(1748538420000, '11,11,eleven,11,0')}`,
      /NOT_NUMERIC[^]*csv:5/,
    ],
    [
      'nothing below sep=',
      'sep=;\r\n',
      /RECORDING_EMPTY: the line of the header is empty[^]*csv:2/,
    ],
    [
      'quotes of two instruments',
      'ts_ms,symbol,bid,ask,bidSz,askSz,last\n1723161254180,SOL,9,10,1,2,10\n1723161254280,AVAX,9,10,1,2,10\n',
      /RECORDING_SYMBOLS_DIFFER[^]*SOL, AVAX/,
    ],
    [
      'prices of another instrument than the name says',
      'ts_ms,symbol,open,high,low,close,volume\n1748538300000,ETHUSDT,1,1,1,1,1\n',
      /RECORDING_SYMBOLS_DIFFER[^]*BTCUSDT, ETHUSDT/,
    ],
    [
      'a date without separators for milliseconds',
      'ts_ms,open,high,low,close,volume\n20250601000000,1,1,1,1,1\n',
      /RECORDING_TIME_UNIT[^]*csv:2[^]*20250601000000/,
    ],
    [
      'times of closes',
      'ts_ms,open,high,low,close,volume\n1748538359999,1,1,1,1,1\n1748538419999,1,1,1,1,1\n',
      /RECORDING_TIME_CLOSE[^]*csv:2[^]*import/,
    ],
    [
      'five minutes that become one',
      `ts_ms,open,high,low,close,volume\n${Array.from({ length: 60 }, (_, place) => `${1748538300000 + (place < 30 ? place * 300_000 : 8_700_000 + (place - 29) * 60_000)},1,1,1,1,1\n`).join('')}`,
      /RECORDING_INTERVAL_CHANGES[^]*csv:2[^]*5m[^]*1m/,
    ],
    [
      'a header without a volume, by what is missing',
      'ts_ms,open,high,low,close\n1748538300000,1,1,1,1\n',
      /RECORDING_HEADER_UNKNOWN[^]*missing +volume, for candles/,
    ],
    [
      'a row cut short',
      row(1748538420000, '11,11'),
      /RECORDING_ROW_LENGTH[^]*:4[^]*3 fields instead of 6/,
    ],
    [
      'separators of thousands',
      row(1748538420000, '"60,000.0","60,100","59,900.5","60,050","5"'),
      /RECORDING_NOT_NUMERIC: a number has a comma in it: a separator of thousands[^]*csv:4[^]*"60,000.0"[^]*without separators of thousands: 61837.63; export/,
    ],
    [
      'a decimal comma in quotes',
      row(1748538420000, '"10,5",12,9,11,5'),
      /RECORDING_NOT_NUMERIC: .*or a decimal comma[^]*csv:4[^]*"10,5"/,
    ],
    [
      'a field too many',
      row(1748538420000, '60,000.0,12,9,11,5'),
      /RECORDING_ROW_LENGTH[^]*:4[^]*7 fields instead of 6[^]*a comma inside a field counts as the end of it/,
    ],
    [
      'time that goes back',
      row(1748538300000, '11,11,11,11,0'),
      /RECORDING_TIME_ORDER[^]*:4[^]*sort/,
    ],
    ['a candle twice', row(1748538360000, '11,11,11,11,0'), /RECORDING_TIME_ORDER[^]*row before/],
    ['seconds', CANDLES.replaceAll('00000,', '00,'), /RECORDING_TIME_UNIT[^]*:2[^]*1000/],
    [
      'a high below the close',
      row(1748538420000, '11,11,10,12,0'),
      /RECORDING_CANDLE_IMPOSSIBLE[^]*:4[^]*close 12/,
    ],
    ['a low above the open', row(1748538420000, '11,13,12,12,0'), /RECORDING_CANDLE_IMPOSSIBLE/],
    ['a negative volume', row(1748538420000, '11,11,11,11,-1'), /RECORDING_CANDLE_IMPOSSIBLE/],
    ['a price of zero', row(1748538420000, '11,11,0,11,1'), /RECORDING_PRICE_NOT_POSITIVE[^]*:4/],
    ['a crossed quote', `${QUOTES}1723161254280,10.1,10,1,2,10\n`, /RECORDING_QUOTE_CROSSED[^]*:3/],
  ]
  for (const [title, text, message] of refused) {
    it(`refuses ${title}`, () => {
      expect(() => parse(text)).toThrow(message)
    })
  }

  it('reads every number as the runtime does, whatever its digits', () => {
    const random = createRandom('numbers')
    const texts = Array.from({ length: 2000 }, () => {
      const digits = Array.from({ length: 1 + random.integer(20) }, () => random.integer(10)).join(
        '',
      )
      const dot = 1 + random.integer(digits.length)
      const end = ['', '', '', 'e2', 'E-3', '.'][random.integer(6)] as string
      return `${random.integer(8) === 0 ? ' +' : ''}${digits.slice(0, dot)}.${digits.slice(dot)}1${end === '.' ? '' : end}`
    })
    const rows = texts.map((text, index) => `${1748538300000 + index},1,1,1,1,${text}`)

    const { rows: read } = parse(`ts_ms,open,high,low,close,volume\r\n${rows.join('\r\n')}`)

    expect(read.kind === 'candles' && [...read.volume]).toEqual(texts.map(Number))
  })

  it('accepts two quotes of one millisecond', () => {
    expect(parse(`${QUOTES}1723161254180,9.9,10,1,2,10\n`).rows.at).toHaveLength(2)
  })
})

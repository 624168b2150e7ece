import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  type ImportedPrices,
  importPrices,
  type ImportOptions,
} from '../../../src/prices/import/import-prices.ts'
import { createRandom } from '../../../src/lib/random.ts'
import { loadRecording } from '../../../src/prices/load-recording.ts'
import { buildZip } from './zip-file.ts'

const AT = Date.UTC(2025, 5, 2)
const HEADER = 'ts_ms,open,high,low,close,volume\n'

const MANY = Array.from({ length: 300 }, (_, minute) => minute)

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'import-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

/** A candle of the n-th minute. */
const candle = (minute: number, rest = '10,12,9,11,5.5') => `${AT + minute * 60_000},${rest}\n`
const candles = (...minutes: number[]) => minutes.map((minute) => candle(minute)).join('')

function put(name: string, contents: string | Uint8Array): string {
  writeFileSync(join(folder, name), contents)
  return join(folder, name)
}

async function importAll(
  files: readonly string[],
  options: Partial<ImportOptions> = {},
): Promise<ImportedPrices[]> {
  const directory = join(folder, 'out')
  const all: ImportedPrices[] = []
  const given = {
    files,
    directory,
    isStrict: false,
    isReplacing: false,
    now: AT + 86_400_000,
    ...options,
  }
  for await (const one of importPrices(given)) if ('rows' in one) all.push(one)
  return all
}

async function importOne(
  text: string,
  options: Partial<ImportOptions> = {},
): Promise<ImportedPrices> {
  const [one] = await importAll([put('BTCUSDT-1m.csv', text)], options)
  if (!one) throw new Error('nothing was imported')
  return one
}

const minutesOf = ({ rows }: ImportedPrices) => [...rows.at].map((at) => (at - AT) / 60_000)

describe('several files of one symbol', () => {
  it('become one, in order of time, whatever they are packed in', async () => {
    const files = [
      put('BTCUSDT-1m-2025-08.zip', buildZip({ 'BTCUSDT-1m-2025-08.csv': HEADER + candles(6, 7) })),
      put('BTCUSDT-1m-2025-06.csv', HEADER + candles(0, 1, 2)),
      put('BTCUSDT-1m-2025-07.csv.gz', gzipSync(HEADER + candles(3, 4, 5))),
    ]

    const [one, ...others] = await importAll(files)

    expect(others).toEqual([])
    expect(one).toMatchObject({
      symbol: 'BTCUSDT',
      name: '1m',
      intervalMs: 60_000,
      gaps: { count: 0 },
    })
    const recording = await loadRecording(one?.written?.file ?? '')
    expect(recording.rows).toEqual(one?.rows)
    expect(recording.rows.at).toEqual(
      Float64Array.from({ length: 8 }, (_, minute) => AT + minute * 60_000),
    )
    expect(recording.sha256).toBe(one?.written?.sha256)
  })

  it('of several symbols, kinds and intervals become a file each', async () => {
    const hours = [0, 60, 120].map((minute) => candle(minute)).join('')
    const files = [
      put('BTCUSDT-1m.csv', HEADER + candles(0, 1, 2)),
      put('BTCUSDT-1h.csv', HEADER + hours),
      put('BTCUSDT-ticks.csv', `ts_ms,bid,ask,bidSz,askSz,last\n${AT},9,10,1,1,10\n`),
      put('ETHUSDT-1m.csv', HEADER + candles(0, 1)),
    ]

    await importAll(files, { market: 'futures' })

    expect(readdirSync(join(folder, 'out')).toSorted()).toEqual([
      'BTCUSDT-futures-1h.prices',
      'BTCUSDT-futures-1m.prices',
      'BTCUSDT-futures-quotes.prices',
      'ETHUSDT-futures-1m.prices',
    ])
  })

  it('with a single candle among them have the interval of the others, else that of its name', async () => {
    const single = put('BTCUSDT.csv', HEADER + candle(2))
    const named = put('ETHUSDT-4h.csv', HEADER + candle(0))

    const found = await importAll([single, put('BTCUSDT-b.csv', HEADER + candles(0, 1)), named])

    expect(found.map(({ symbol, name }) => `${symbol} ${name}`)).toEqual([
      'BTCUSDT 1m',
      'ETHUSDT 4h',
    ])
  })

  it('leave a column aside that not all have, and say so', async () => {
    const marked = put(
      'BTCUSDT-a.csv',
      `ts_ms,open,high,low,close,volume,mark\n${candle(0, '10,12,9,11,5,10')}${candle(1, '10,12,9,11,5,10')}`,
    )

    const [one] = await importAll([marked, put('BTCUSDT-b.csv', HEADER + candles(2, 3))])

    expect(one?.leftAside).toEqual(['mark'])
    expect(one?.rows.mark).toBeUndefined()
  })
})

describe('what is not as it should be', () => {
  const none = { count: 0 }
  const clean = {
    disorder: none,
    duplicates: none,
    conflicts: none,
    zeroPrices: none,
    impossible: none,
    offInterval: none,
    outliers: none,
  }
  const where = (line: number) => `BTCUSDT-1m.csv:${line}`

  it('nothing, where all is well', async () => {
    expect((await importOne(HEADER + candles(0, 1, 2))).findings).toEqual(clean)
  })

  it.each([
    [
      'disorder is sorted',
      candles(0, 2, 1, 3),
      [0, 1, 2, 3],
      { disorder: { count: 1, first: where(4) } },
    ],
    [
      'a file that runs backwards is sorted',
      candles(3, 2, 1, 0),
      [0, 1, 2, 3],
      { disorder: { count: 3, first: where(3) } },
    ],
    [
      'of duplicates the first is kept',
      candles(0, 1) + candle(1, '10,12,9,10,5.5') + candles(1, 2),
      [0, 1, 2],
      { duplicates: { count: 2, first: where(4) }, conflicts: { count: 2, first: where(4) } },
    ],
    [
      'a price of zero is dropped',
      candles(0, 1) + candle(2, '10,12,0,11,5') + candles(3),
      [0, 1, 3],
      { zeroPrices: { count: 1, first: where(4) } },
    ],
    [
      'a high below the close is dropped',
      candles(0) + candle(1, '10,10.5,9,11,5') + candles(2, 3),
      [0, 2, 3],
      { impossible: { count: 1, first: where(3) } },
    ],
    [
      'a negative volume is dropped',
      candles(0, 1, 2) + candle(3, '10,12,9,11,-5'),
      [0, 1, 2],
      { impossible: { count: 1, first: where(5) } },
    ],
    [
      'a time between two candles is dropped',
      candles(...MANY) + candle(7.5),
      MANY,
      { offInterval: { count: 1, first: where(302) }, disorder: { count: 1, first: where(302) } },
    ],
    [
      'a price ten times as high as those around it is named and kept',
      candles(0, 1) +
        candle(2, '10,110,9,11,5') +
        candles(3) +
        candle(4, '10,10,1,1,5') +
        candles(5),
      [0, 1, 2, 3, 4, 5],
      { outliers: { count: 2, first: `${where(4)}, high 110 after 11` } },
    ],
    [
      'a first price that is wrong is named, and not the one after it',
      candle(0, '1000,1200,900,1100,5') + candles(1, 2),
      [0, 1, 2],
      { outliers: { count: 1, first: `${where(2)}, open 1000 before 11` } },
    ],
    [
      'where prices go on in another unit, the first of them is named',
      candles(0, 1) + [2, 3, 4].map((minute) => candle(minute, '1000,1200,900,1100,5')).join(''),
      [0, 1, 2, 3, 4],
      { outliers: { count: 1, first: `${where(4)}, open 1000 after 11` } },
    ],
  ])('%s', async (_, text, minutes, findings) => {
    const one = await importOne(HEADER + text)

    expect(minutesOf(one)).toEqual(minutes)
    expect(one.findings).toEqual({ ...clean, ...findings })
  })

  it('an instrument that is seldom traded keeps its candles', async () => {
    const minutes = [0, 2, 4, 6, 7, 9, 11, 13, 15, 18]

    const one = await importOne(HEADER + candles(...minutes))

    expect(one).toMatchObject({
      intervalMs: 60_000,
      findings: clean,
      gaps: { count: 8, missing: 9 },
    })
  })

  it('gaps are counted, with what is missing and the longest', async () => {
    const { gaps } = await importOne(HEADER + candles(0, 1, 3, 4, 9, 10))

    expect(gaps).toEqual({ count: 2, missing: 5, longestMs: 300_000, longestFrom: AT + 4 * 60_000 })
  })

  it('of quotes: crossed ones and repeated rows are dropped, two at one time are not', async () => {
    const quotes = [
      '0,9,10,1,1,10',
      '0,9,10,1,2,10',
      '0,9,10,1,2,10',
      '5,10.5,10,1,1,10',
      '70000,9,10,1,1,10',
    ]
    const rows = quotes.map(
      (quote) => `${AT + Number(quote.split(',')[0])},${quote.split(',').slice(1).join(',')}`,
    )

    const one = await importOne(`ts_ms,bid,ask,bidSz,askSz,last\n${rows.join('\n')}\n`)

    expect(one.rows.at).toEqual(Float64Array.of(AT, AT, AT + 70_000))
    expect(one.findings).toEqual({
      ...clean,
      duplicates: { count: 1, first: where(4) },
      impossible: { count: 1, first: where(5) },
    })
    expect(one.gaps).toEqual({ count: 1, longestMs: 70_000, longestFrom: AT })
  })

  it('nothing that can be played is a failure', async () => {
    await expect(importOne(HEADER + candle(0, '0,0,0,0,0'))).rejects.toThrow(
      /RECORDING_EMPTY: no usable row is left[^]*zero prices +1 rows, the first BTCUSDT-1m.csv:2/,
    )
  })

  it('with --strict nothing of it is written', async () => {
    const one = await importOne(HEADER + candles(0, 1, 3), { isStrict: true })

    expect(one.written).toBeUndefined()
    expect(readdirSync(folder)).toEqual(['BTCUSDT-1m.csv'])
  })

  it('any order, doubles and cuts give back the candles that were cut', async () => {
    const random = createRandom('shuffled')
    for (let round = 0; round < 30; round++) {
      const minutes = Array.from({ length: 2 + random.integer(40) }, (_, minute) => minute)
      const lines = [...minutes, ...minutes.filter(() => random.integer(3) === 0)].map(
        (minute) => ({
          text: candle(minute),
          place: random.next(),
        }),
      )
      const text = lines.toSorted((one, other) => one.place - other.place).map((line) => line.text)
      const cut = random.integer(text.length)
      const files = [text.slice(0, cut), text.slice(cut)]
        .filter((part) => part.length > 0)
        .map((part, index) => put(`BTCUSDT-1m-${index}.csv`, HEADER + part.join('')))

      const [one] = await importAll(files, { isReplacing: true })

      expect(one && minutesOf(one)).toEqual(minutes)
    }
  })
})

describe('a price file that is there', () => {
  it('is left alone, and replaced when that is asked for; it can be added to', async () => {
    const first = await importOne(HEADER + candles(0, 1))
    const file = first.written?.file ?? ''
    const before = readFileSync(file)
    const next = put('BTCUSDT-1m-next.csv', HEADER + candles(2, 3))

    await expect(importAll([next])).rejects.toThrow(
      /IMPORT_EXISTS[^]*BTCUSDT-1m.prices[^]*--replace/,
    )
    expect(readFileSync(file)).toEqual(before)

    const [both] = await importAll([file, next], { isReplacing: true })
    expect(both && minutesOf(both)).toEqual([0, 1, 2, 3])
    expect((await loadRecording(file)).rows.at).toHaveLength(4)
  })
})

describe('the symbol', () => {
  it('is asked for after it is known that all files are there', async () => {
    const file = put('prices.csv', HEADER + candles(0, 1))

    await expect(importAll([file, join(folder, 'nope.csv')])).rejects.toThrow(
      /RECORDING_UNREADABLE[^]*nope/,
    )
  })

  it('is the one that is named, or that of the file', async () => {
    const file = put('prices.csv', HEADER + candles(0, 1))

    await expect(importAll([file])).rejects.toThrow(/IMPORT_SYMBOL_UNKNOWN[^]*--symbol/)
    expect((await importAll([file], { symbol: 'SOLUSDT' }))[0]?.symbol).toBe('SOLUSDT')
  })

  it('is not one for files of two', async () => {
    const files = [put('BTCUSDT.csv', HEADER), put('ETHUSDT.csv', HEADER)]

    await expect(importAll(files, { symbol: 'BTCUSDT' })).rejects.toThrow(
      /IMPORT_SYMBOLS_DIFFER[^]*BTCUSDT, ETHUSDT/,
    )
  })
})

import { createHash } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { describe, expect, it, onTestFinished } from 'vitest'
import { Failure } from '../../src/lib/failure.ts'
import { createRandom, type Random } from '../../src/lib/random.ts'
import { encodeColumn, findUnit } from '../../src/prices/column-codec.ts'
import { loadRecording } from '../../src/prices/load-recording.ts'
import { buildPriceFile, parsePriceFile } from '../../src/prices/price-file.ts'
import { parseRecording } from '../../src/prices/parse-recording.ts'
import { type Recording } from '../../src/prices/recording.ts'

const AT = 1748538300000

describe('a price file', () => {
  it.each(['candles', 'quotes'] as const)(
    'gives back %s of any CSV, each number with the same bits',
    (kind) => {
      const random = createRandom(`price file ${kind}`)
      for (let round = 0; round < 200; round++) {
        const read = parseRecording({
          bytes: Buffer.from(drawCsv(kind, random)),
          source: 'BTCUSDT.csv',
        })

        const again = parse(build(read))

        expect(bitsOf(again)).toEqual(bitsOf(read))
      }
    },
  )

  it('is the same bytes for the same rows', () => {
    const csv = drawCsv('candles', createRandom('same'))

    expect(build(read(csv))).toEqual(build(read(csv)))
  })

  it('is read from disk by its first bytes, plain and gzipped, under its own symbol alone', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'prices-'))
    onTestFinished(() => rm(folder, { recursive: true }))
    const rows = [1748538300000, 1748538360000].map((at) => `${at},10,12,9,11,5.5\n`)
    const made = read(`ts_ms,open,high,low,close,volume\n${rows.join('')}`)
    const file = join(folder, 'any name')
    await writeFile(file, build(made))
    await writeFile(`${file}.gz`, gzipSync(build(made)))

    const [plain, packed] = await Promise.all([loadRecording(file), loadRecording(`${file}.gz`)])

    expect(plain).toMatchObject({ symbol: 'BTCUSDT', market: 'spot', rows: made.rows })
    expect(packed).toEqual({ ...plain, source: 'any name.gz' })
    expect(await loadRecording(`BTCUSDT=${file}`)).toEqual(plain)
    await expect(loadRecording(`ETHUSDT=${file}`)).rejects.toThrow(/RECORDING_SYMBOLS_DIFFER/)
  })

  it('has in its last 32 bytes the SHA-256 of all before, and names the recording by it', () => {
    const bytes = build(read(drawCsv('quotes', createRandom('sum'))))
    const sum = createHash('sha256').update(bytes.subarray(0, -32)).digest('hex')

    expect(bytes.toString('hex', bytes.length - 32)).toBe(sum)
    expect(parse(bytes).sha256).toBe(sum)
  })
})

describe('a damaged price file', () => {
  const whole = build(read('ts_ms,open,high,low,close,volume\n1748538300000,10,12,9,11,5.5\n'))

  it('is refused, whichever byte is another', () => {
    for (let at = 0; at < whole.length; at++) {
      for (const flip of [0x01, 0x80, 0xff]) {
        const bytes = Buffer.from(whole)
        bytes[at] = (bytes[at] as number) ^ flip
        expect(
          codeOf(() => parse(bytes)),
          `byte ${at}`,
        ).toMatch(/^PRICES_(DAMAGED|TRUNCATED|VERSION_UNKNOWN)$/)
      }
    }
  })

  it('is refused wherever it is cut, and when something follows', () => {
    for (let length = 8; length < whole.length; length++) {
      expect(
        codeOf(() => parse(whole.subarray(0, length))),
        `length ${length}`,
      ).toBe('PRICES_TRUNCATED')
    }
    expect(codeOf(() => parse(Buffer.concat([whole, Buffer.alloc(1)])))).toBe('PRICES_DAMAGED')
  })

  it('of a later version is refused as that', () => {
    const bytes = Buffer.from(whole)
    bytes[7] = 2

    expect(() => parse(bytes)).toThrow(
      /PRICES_VERSION_UNKNOWN[^]*found +2[^]*known +1[^]*import it again/,
    )
  })

  it('with a right sum is still held to what prices can be', () => {
    const text = whole.toString('latin1')
    const renamed = resum(text.replace('"name":"high"', '"name":"mark"'))
    const endless = resum(text.replace('"rows":1', '"rows":9'))
    const reversed = resum(text.replace('"unit":"12"', '"unit":"10"'))

    expect(codeOf(() => parse(renamed))).toBe('PRICES_DAMAGED')
    expect(codeOf(() => parse(endless))).toBe('PRICES_TRUNCATED')
    expect(codeOf(() => parse(reversed))).toBe('RECORDING_CANDLE_IMPOSSIBLE')
  })
})

describe('a column', () => {
  it.each([
    [[0.1, 0.5, 12.3], '0.1'],
    [[0.5, 1, 2.5], '0.5'],
    [[61837.63, 61837], '0.01'],
    [[AT, AT + 60_000], '60000'],
    [[0.00000001, 12], '0.00000001'],
    [[0, 0], '1'],
    [[-0, 1], undefined],
    [[1 / 3], undefined],
    [[2 ** 60], undefined],
    [[1e-20], undefined],
    [[Number.POSITIVE_INFINITY], undefined],
  ])('%j lies on a grid of %s', (numbers, unit) => {
    expect(findUnit(Float64Array.from(numbers))).toBe(unit)
  })

  it.each([
    [[5, 132], 'int8'],
    [[5, 133], 'int16'],
    [[5, 40_001], 'int32'],
    [[5, 2 ** 33 + 1], 'float64'],
    [[1 / 3], 'float64'],
  ])('%j is written as %s', (numbers, type) => {
    expect(encodeColumn(Float64Array.from(numbers)).encoded.type).toBe(type)
  })
})

const read = (csv: string) => parseRecording({ bytes: Buffer.from(csv), source: 'BTCUSDT.csv' })
const parse = (bytes: Buffer) => parsePriceFile({ bytes, source: 'BTCUSDT.prices' })

function build({ symbol, rows }: Recording): Buffer {
  return buildPriceFile({ symbol, market: 'spot', rows, sources: ['BTCUSDT.csv'] })
}

function codeOf(work: () => unknown): string {
  try {
    work()
  } catch (error) {
    if (error instanceof Failure) return error.code
    throw error
  }
  return 'none'
}

function resum(text: string): Buffer {
  const body = Buffer.from(text, 'latin1').subarray(0, -32)
  return Buffer.concat([body, createHash('sha256').update(body).digest()])
}

function bitsOf({ rows }: Recording) {
  const { kind, ...columns } = rows
  const bits = Object.entries(columns).map(([name, numbers]: [string, Float64Array]) => [
    name,
    [...new BigUint64Array(numbers.slice().buffer)],
  ])
  return { kind, ...(Object.fromEntries(bits) as object) }
}

/** Prices on a coarse grid, a fine one or none, with steps small and large, gaps, and columns that may be there. */
function drawCsv(kind: 'candles' | 'quotes', random: Random): string {
  const extras = (kind === 'quotes' ? ['volume'] : []).concat('mark', 'fundingRate')
  const chosen = extras.filter(() => random.integer(2) === 0)
  const decimals = random.integer(9)
  const isWild = random.integer(4) === 0
  const draw = (least: number, most: number) => {
    const number = least + (most - least) * random.next()
    return isWild && random.integer(3) === 0 ? String(number) : number.toFixed(decimals)
  }
  const size = () =>
    random.integer(9) === 0 ? ['0', '-0', '1e-9', '1e300'][random.integer(4)] : draw(0, 1000)
  let at = AT
  const lines = Array.from({ length: 1 + random.integer(30) }, () => {
    at += [60_000, 60_000, 61_001, 86_400_000 * 90][random.integer(4)] as number
    const beside = chosen.map((name) =>
      name === 'fundingRate' ? String(random.normal() / 1e4) : draw(2, 9),
    )
    const prices =
      kind === 'candles'
        ? [draw(3, 4), draw(6, 7e4), draw(1, 2), draw(3, 4)]
        : [draw(3, 4), draw(5, 6)]
    const sizes = kind === 'candles' ? [size()] : [size(), size(), draw(3, 6)]
    return [at, ...prices, ...sizes, ...beside].join(',')
  })
  const header =
    kind === 'candles' ? 'ts_ms,open,high,low,close,volume' : 'ts_ms,bid,ask,bidSz,askSz,last'
  return [[header, ...chosen].join(','), ...lines].join('\n')
}

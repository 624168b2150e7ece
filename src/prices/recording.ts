/** A recording of real prices: CSV with a header, of candles or of quotes. */
import { createHash } from 'node:crypto'
import { Failure } from '../lib/failure.ts'
import { readCsvColumns } from './csv-columns.ts'

/** What a recording may know beside prices. */
export interface ReferenceRows {
  /** The mark price, in quote coin: of a candle at its end, of a quote at its time. */
  readonly mark?: Float64Array
  /** The rate that would be settled then, as a share: 0.0001 is 1 bp. */
  readonly fundingRate?: Float64Array
}

/** Columns of candles, a row each: prices and volume as written, `at` in Unix ms. */
export interface CandleRows extends ReferenceRows {
  readonly kind: 'candles'
  readonly at: Float64Array
  readonly open: Float64Array
  readonly high: Float64Array
  readonly low: Float64Array
  readonly close: Float64Array
  /** In the base coin. */
  readonly volume: Float64Array
}

/** Columns of quotes, a row each. */
export interface QuoteRows extends ReferenceRows {
  readonly kind: 'quotes'
  readonly at: Float64Array
  readonly bid: Float64Array
  readonly ask: Float64Array
  readonly bidSize: Float64Array
  readonly askSize: Float64Array
  readonly last: Float64Array
  /** Traded since the row before, in the base coin; absent where the file has no such column. */
  readonly volume?: Float64Array
}

export interface Recording {
  readonly symbol: string
  /** The file's name without its folder, for messages. */
  readonly source: string
  /** SHA-256 of the unpacked contents, hex: a plain and a gzipped copy are the same recording. */
  readonly sha256: string
  readonly rows: CandleRows | QuoteRows
}

const LINE_FEED = 10

const CANDLE_HEADER = ['ts_ms', 'open', 'high', 'low', 'close', 'volume']
const QUOTE_HEADER = ['ts_ms', 'bid', 'ask', 'bidsz', 'asksz', 'last']
/** Columns that may be there: {@link ReferenceRows}, and of quotes what was traded since the row before. */
const CANDLE_EXTRAS = ['mark', 'fundingrate']
const QUOTE_EXTRAS = ['volume', ...CANDLE_EXTRAS]
const HEADERS_HINT =
  'the first line must be ts_ms,open,high,low,close,volume or ts_ms,bid,ask,bidSz,askSz,last[,volume]; both may have mark and fundingRate'

/**
 * Reads a recording from its bytes, UTF-8.
 *
 * @param source The file's name, for messages and, without `symbol`, for the symbol.
 * @throws Failure RECORDING_SYMBOL_MISSING, RECORDING_EMPTY, RECORDING_HEADER_UNKNOWN, RECORDING_ROW_LENGTH,
 *   RECORDING_NOT_NUMERIC, RECORDING_TIME_UNIT, RECORDING_TIME_ORDER, RECORDING_PRICE_NOT_POSITIVE,
 *   RECORDING_CANDLE_IMPOSSIBLE, RECORDING_QUOTE_CROSSED, each naming file:line.
 */
export function parseRecording(input: { bytes: Buffer; source: string; symbol?: string }): Recording {
  const { bytes, source } = input
  const symbol = input.symbol ?? /^[A-Z]+/.exec(source)?.[0]
  if (symbol === undefined) {
    throw recordingFailure('RECORDING_SYMBOL_MISSING', {
      sentence: 'the file name does not begin with a symbol',
      where: source,
      hint: `name the symbol: BTCUSDT=${source}`,
    })
  }
  const sha256 = createHash('sha256').update(bytes).digest('hex')
  const headerEnd = bytes.includes(LINE_FEED) ? bytes.indexOf(LINE_FEED) : bytes.length
  const line = bytes.toString('utf8', 0, headerEnd).replace(/^\uFEFF/, '')
  const header = line.split(',').map((name) => name.trim().toLowerCase())
  if (line.trim() === '') throw emptyRecording(source)
  const isCandles = CANDLE_HEADER.every((name) => header.includes(name))
  if (!isCandles && !QUOTE_HEADER.every((name) => header.includes(name))) {
    throw recordingFailure('RECORDING_HEADER_UNKNOWN', {
      sentence: 'the header is neither that of candles nor that of quotes',
      where: `${source}:1`,
      found: line.trim().slice(0, 80),
      hint: HEADERS_HINT,
    })
  }
  const extras = (isCandles ? CANDLE_EXTRAS : QUOTE_EXTRAS).filter((name) => header.includes(name))
  const names = [...(isCandles ? CANDLE_HEADER : QUOTE_HEADER), ...extras]
  const columns = readCsvColumns(bytes, { header, names, source, from: headerEnd + 1 })
  if (columns.get('ts_ms')?.length === 0) throw emptyRecording(source)
  const rows = isCandles ? toCandles(columns, source) : toQuotes(columns, source)
  return { symbol, source, sha256, rows }
}

type Columns = ReadonlyMap<string, Float64Array>

function columnsNamed(columns: Columns, names: readonly string[]): SixColumns {
  return names.map((name) => columns.get(name) as Float64Array) as SixColumns
}

function referencesIn(columns: Columns, source: string): ReferenceRows {
  const [mark, fundingRate] = [columns.get('mark'), columns.get('fundingrate')]
  mark?.forEach((price, row) => assertPositive(price, { source, row }))
  return { ...(mark && { mark }), ...(fundingRate && { fundingRate }) }
}

function toCandles(columns: Columns, source: string): CandleRows {
  const [at, open, high, low, close, volume] = columnsNamed(columns, CANDLE_HEADER)
  assertTimes(at, { source, isStrict: true })
  for (let row = 0; row < at.length; row++) {
    const [o, h, l, c] = [open[row], high[row], low[row], close[row]] as [number, number, number, number]
    assertPositive(l, { source, row })
    if (h >= o && h >= c && l <= o && l <= c && (volume[row] as number) >= 0) continue
    throw recordingFailure('RECORDING_CANDLE_IMPOSSIBLE', {
      sentence: 'the candle is impossible: high below, or low above one of its prices, or a negative volume',
      where: `${source}:${row + 2}`,
      found: `open ${o}  high ${h}  low ${l}  close ${c}  volume ${volume[row]}`,
      hint: 'check the order of the columns, then remove or repair the row',
    })
  }
  return { kind: 'candles', at, open, high, low, close, volume, ...referencesIn(columns, source) }
}

function toQuotes(columns: Columns, source: string): QuoteRows {
  const [at, bid, ask, bidSize, askSize, last] = columnsNamed(columns, QUOTE_HEADER)
  const volume = columns.get('volume')
  assertTimes(at, { source, isStrict: false })
  for (let row = 0; row < at.length; row++) {
    const [b, a] = [bid[row] as number, ask[row] as number]
    assertPositive(Math.min(b, last[row] as number), { source, row })
    const isSized = [bidSize, askSize, volume].every(
      (sizes) => sizes === undefined || (sizes[row] as number) >= 0,
    )
    if (b <= a && isSized) continue
    throw recordingFailure('RECORDING_QUOTE_CROSSED', {
      sentence: 'the quote is impossible: the bid is above the ask, or a size or the volume is negative',
      where: `${source}:${row + 2}`,
      found: `bid ${b}  ask ${a}  sizes ${bidSize[row]} ${askSize[row]}`,
      hint: 'check the order of the columns, then remove or repair the row',
    })
  }
  const known = { at, bid, ask, bidSize, askSize, last, ...referencesIn(columns, source) }
  return { kind: 'quotes', ...known, ...(volume && { volume }) }
}

type SixColumns = [Float64Array, Float64Array, Float64Array, Float64Array, Float64Array, Float64Array]

function assertTimes(at: Float64Array, { source, isStrict }: { source: string; isStrict: boolean }): void {
  const first = at[0] as number
  // 1e11 ms is March 1973, 1e14 ms is the year 5138.
  if (first < 1e11 || first > 1e14) {
    throw recordingFailure('RECORDING_TIME_UNIT', {
      sentence: 'the time is not in Unix milliseconds',
      where: `${source}:2`,
      found: String(first),
      hint: 'ts_ms has 13 digits today: multiply seconds by 1000, divide microseconds by 1000',
    })
  }
  for (let row = 1; row < at.length; row++) {
    const step = (at[row] as number) - (at[row - 1] as number)
    if (step > 0 || (step === 0 && !isStrict)) continue
    throw recordingFailure('RECORDING_TIME_ORDER', {
      sentence:
        step === 0 ? 'the time is that of the row before' : 'the time is before that of the row before',
      where: `${source}:${row + 2}`,
      found: `${at[row]} after ${at[row - 1]}`,
      hint: 'sort the rows by ts_ms and remove doubles',
    })
  }
}

function assertPositive(price: number, { source, row }: { source: string; row: number }): void {
  if (price > 0) return
  throw recordingFailure('RECORDING_PRICE_NOT_POSITIVE', {
    sentence: 'a price is zero or negative',
    where: `${source}:${row + 2}`,
    found: String(price),
    hint: 'remove the row: an exchange writes it when nothing was there',
  })
}

function emptyRecording(source: string): Failure {
  return recordingFailure('RECORDING_EMPTY', {
    sentence: 'the recording has no rows',
    where: source,
    hint: HEADERS_HINT,
  })
}

function recordingFailure(
  code: string,
  { sentence, where, found, hint }: { sentence: string; where: string; found?: string; hint: string },
): Failure {
  return new Failure({ code, sentence, facts: { where, ...(found !== undefined && { found }) }, hint })
}

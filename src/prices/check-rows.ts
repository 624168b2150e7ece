import { Failure } from '../lib/failure.ts'
import type { CandleRows, QuoteRows } from './recording.ts'

export type RowLocator = (row: number) => string

/** A bitcoin costs some 3,000,000,000 dong; a higher price is a wrong column. */
export const PRICE_MAX = 1e12

/**
 * @throws Failure RECORDING_TIME_UNIT, RECORDING_TIME_ORDER, RECORDING_PRICE_NOT_POSITIVE,
 * RECORDING_PRICE_TOO_HIGH, RECORDING_CANDLE_IMPOSSIBLE, RECORDING_QUOTE_CROSSED, each naming where
 */
export function assertRows(rows: CandleRows | QuoteRows, whereOf: RowLocator): void {
  rows.mark?.forEach((price, row) => {
    assertPositive(price, row, whereOf)
    assertCountable(price, row, whereOf)
  })
  assertTimes(rows, whereOf)
  if (rows.kind === 'candles') assertCandles(rows, whereOf)
  else assertQuotes(rows, whereOf)
}

function assertCandles({ open, high, low, close, volume }: CandleRows, whereOf: RowLocator): void {
  for (let row = 0; row < open.length; row++) {
    const o = open[row] as number
    const h = high[row] as number
    const l = low[row] as number
    const c = close[row] as number
    assertPositive(l, row, whereOf)
    assertCountable(h, row, whereOf)
    if (h >= o && h >= c && l <= o && l <= c && (volume[row] as number) >= 0) continue
    throw rowFailure('RECORDING_CANDLE_IMPOSSIBLE', {
      sentence:
        'the candle is impossible: high below, or low above one of its prices, or a negative volume',
      where: whereOf(row),
      found: `open ${o}  high ${h}  low ${l}  close ${c}  volume ${volume[row]}`,
      hint: 'check the order of the columns, then remove or repair the row',
    })
  }
}

function assertQuotes(
  { bid, ask, bidSize, askSize, last, volume }: QuoteRows,
  whereOf: RowLocator,
): void {
  for (let row = 0; row < bid.length; row++) {
    const b = bid[row] as number
    const a = ask[row] as number
    assertPositive(Math.min(b, last[row] as number), row, whereOf)
    assertCountable(Math.max(a, last[row] as number), row, whereOf)
    const isSized = (bidSize[row] as number) >= 0 && (askSize[row] as number) >= 0
    if (b <= a && isSized && (volume === undefined || (volume[row] as number) >= 0)) continue
    throw rowFailure('RECORDING_QUOTE_CROSSED', {
      sentence:
        'the quote is impossible: the bid is above the ask, or a size or the volume is negative',
      where: whereOf(row),
      found: `bid ${b}  ask ${a}  sizes ${bidSize[row]} ${askSize[row]}`,
      hint: 'check the order of the columns, then remove or repair the row',
    })
  }
}

/** Bitcoin began in January 2009, so an earlier time is in another unit. */
export const EARLIEST_AT = Date.UTC(2009, 0, 1)
/** Seconds, microseconds and dates without separators are never milliseconds of this century. */
const LATEST_AT = Date.UTC(2100, 0, 1)

function assertTimes({ kind, at }: CandleRows | QuoteRows, whereOf: RowLocator): void {
  const astray = at.findIndex((time) => !(time >= EARLIEST_AT && time < LATEST_AT))
  if (astray >= 0) {
    throw rowFailure('RECORDING_TIME_UNIT', {
      sentence: 'the time is not in Unix milliseconds between 2009 and 2100',
      where: whereOf(astray),
      found: String(at[astray]),
      hint: 'ts_ms has 13 digits today: multiply seconds by 1000, divide microseconds by 1000; `intentd import` does that, and reads dates',
    })
  }
  for (let row = 1; row < at.length; row++) {
    const step = (at[row] as number) - (at[row - 1] as number)
    if (step > 0 || (step === 0 && kind === 'quotes')) continue
    throw rowFailure('RECORDING_TIME_ORDER', {
      sentence:
        step === 0
          ? 'the time is that of the row before'
          : 'the time is before that of the row before',
      where: whereOf(row),
      found: `${at[row]} after ${at[row - 1]}`,
      hint: '`intentd import` sorts the rows by time and removes doubles',
    })
  }
}

function assertPositive(price: number, row: number, whereOf: RowLocator): void {
  if (price > 0) return
  throw rowFailure('RECORDING_PRICE_NOT_POSITIVE', {
    sentence: 'a price is zero or negative',
    where: whereOf(row),
    found: String(price),
    hint: 'remove the row, which an exchange writes when there was no price; `intentd import` does that',
  })
}

function assertCountable(price: number, row: number, whereOf: RowLocator): void {
  if (!(price > PRICE_MAX)) return
  throw rowFailure('RECORDING_PRICE_TOO_HIGH', {
    sentence: `a price is above ${PRICE_MAX.toLocaleString('en-US')}`,
    where: whereOf(row),
    found: String(price),
    hint: 'check the order of the columns, then remove or repair the row',
  })
}

function rowFailure(
  code: string,
  {
    sentence,
    where,
    found,
    hint,
  }: Readonly<Record<'sentence' | 'where' | 'found' | 'hint', string>>,
): Failure {
  return new Failure({ code, sentence, facts: { where, found }, hint })
}

/**
 * The payments of one instrument, as `intentd import` writes them (docs/data.md). A payment's
 * period begins at the payment before.
 */
import { Failure } from '../lib/failure.ts'
import { EARLIEST_AT } from './check-rows.ts'
import { readCsvColumns } from './csv-columns.ts'
import { assertShares } from './funding.ts'

export interface FundingFile {
  readonly symbol: string
  readonly at: Float64Array
  readonly rates: Float64Array
}

const HEADER = ['ts_ms', 'symbol', 'fundingRate'] as const
const HEADER_LINE = HEADER.join(',')
const HOUR_MS = 3_600_000

export function isFundingFile(bytes: Buffer): boolean {
  return bytes.toString('utf8', 0, HEADER_LINE.length) === HEADER_LINE
}

export function formatFunding({ symbol, at, rates }: FundingFile): string {
  const lines = [...at].map((time, row) => `${time},${symbol},${toPlain(rates[row] as number)}`)
  return `${[HEADER_LINE, ...lines].join('\n')}\n`
}

function toPlain(rate: number): string {
  const text = String(rate)
  return text.includes('e') ? rate.toFixed(20).replace(/0+$/, '') : text
}

/**
 * @throws Failure RECORDING_EMPTY, FUNDING_UNREADABLE, RECORDING_FUNDING_RATE, and those of {@link
 * readCsvColumns}, each naming file:line.
 */
export function parseFunding({ bytes, source }: { bytes: Buffer; source: string }): FundingFile {
  const symbols: string[] = []
  const columns = readCsvColumns(bytes, {
    separator: ',',
    header: HEADER,
    names: HEADER,
    texts: ['symbol'],
    source,
    from: bytes.indexOf('\n') + 1 || bytes.length,
    readText: (text, name) => (name === 'symbol' ? numberIn(symbols, text) : undefined),
  })
  const [at, rates] = [
    columns.get('ts_ms') as Float64Array,
    columns.get('fundingRate') as Float64Array,
  ]
  const [symbol, other] = symbols
  if (symbol === undefined) throw unreadable(source, 'there is no row below the header')
  if (other !== undefined) throw unreadable(source, `payments of ${symbol} and of ${other}`)
  for (let row = 0; row < at.length; row++) {
    const time = at[row] as number
    const where = `${source}:${row + 2}`
    if (!(time >= EARLIEST_AT) || time % HOUR_MS !== 0)
      throw unreadable(where, `${time} is not a whole hour in Unix ms`)
    if (row > 0 && time <= (at[row - 1] as number))
      throw unreadable(where, `${time} after ${at[row - 1]}`)
  }
  assertShares(rates, source)
  return { symbol, at, rates }
}

function numberIn(texts: string[], text: string): number {
  const index = texts.indexOf(text)
  return index >= 0 ? index : texts.push(text) - 1
}

function unreadable(where: string, found: string): Failure {
  return new Failure({
    code: 'FUNDING_UNREADABLE',
    sentence: 'the file of funding payments is not what it should be',
    facts: { where, found },
    hint: 'a row for each payment of one instrument, ts_ms,symbol,fundingRate, in order of time; `intentd import` makes such files',
  })
}

// Ticker answers as an exchange might send them, whole and with a few bytes changed, for a comparison of the scanner
// with the reader that parses all of it. Everything comes from the seed.

import { TICKER_COLUMNS, TickerTable } from '../../../src/domain/ticker-table.ts'
import {
  readTickersJson,
  TickerScanner,
  type TickersRead,
} from '../../../src/exchange/readers/ticker-reader.ts'
import { createRandom, type Random } from '../../../src/lib/random.ts'

const FIELDS = ['symbol', ...TICKER_COLUMNS, 'markPrice', 'unheardOf']
const NUMBERS = [
  '0',
  '1',
  '-1',
  '0.5',
  '-0',
  '29904.5',
  '1.2E-7',
  '123456789012345678',
  '0.000000001',
  '00.5',
  '7.',
  '',
  null,
]
const STATES = ['', null, 'delivery_normal', 'delivery_before', 'delivery_unheard_of', '1']

/** One answer: fields in an order of its own, a few of them left out, with or without a time of the exchange. */
function drawAnswer(random: Random): string {
  const fields = FIELDS.filter((field) => field === 'symbol' || random.integer(12) > 0)
  for (let index = fields.length - 1; index > 0; index--) {
    const other = random.integer(index + 1)
    ;[fields[index], fields[other]] = [fields[other] ?? '', fields[index] ?? '']
  }
  const rows = Array.from({ length: 1 + random.integer(6) }, (_, row) =>
    Object.fromEntries(fields.map((field) => [field, drawValue(random, field, row)])),
  )
  const time = [
    { requestTime: 1_700_000_000_000 + random.integer(1000) },
    { requestTime: '1700000000123' },
    { requestTime: null },
    {},
  ]
  const envelope = { code: '00000', msg: 'success', ...time[random.integer(time.length)] }
  return JSON.stringify(
    random.integer(2) === 0 ? { ...envelope, data: rows } : { data: rows, ...envelope },
  )
}

function drawValue(random: Random, field: string, row: number): unknown {
  if (field === 'symbol') return `S${row}USDT`
  const values = field === 'deliveryStatus' ? STATES : NUMBERS
  // Mostly plain: an answer with a value that the row refuses is never scanned.
  return random.integer(8) === 0
    ? values[random.integer(values.length)]
    : field === 'deliveryStatus'
      ? ''
      : drawPrice(random)
}

function drawPrice(random: Random): string {
  return (random.integer(1_000_000) / 10 ** random.integer(6)).toString()
}

const INSERTED = '"{}[],:\\-+.eE0123456789 nult\u00e9\u0000'
const VALUES = /"(?:\d[^"]*)?"(?=[,}])|null/g

/** The same answer with other values, or with bytes changed, cut out, put in or said twice. */
function disturb(answer: string, random: Random): Buffer {
  if (random.integer(3) === 0) {
    return Buffer.from(
      answer.replaceAll(VALUES, (value) =>
        random.integer(4) === 0 ? JSON.stringify(NUMBERS[random.integer(NUMBERS.length)]) : value,
      ),
    )
  }
  let bytes = answer
  for (let times = 1 + random.integer(3); times > 0; times--) {
    const at = random.integer(bytes.length + 1)
    const length = random.integer(4) === 0 ? random.integer(60) : random.integer(3)
    const put = [
      INSERTED[random.integer(INSERTED.length)] ?? '',
      '',
      bytes.slice(at, at + length).repeat(2),
    ]
    bytes = bytes.slice(0, at) + (put[random.integer(put.length)] ?? '') + bytes.slice(at + length)
  }
  return Buffer.from(bytes, random.integer(20) === 0 ? 'latin1' : 'utf8')
}

/** Everything that a reading leaves behind. */
function outcomeOf(read: TickersRead, table: TickerTable): string {
  const rows = table.symbols.map((_, row) =>
    TICKER_COLUMNS.map((column) => showNumber(table.columns[column][row])),
  )
  return JSON.stringify([read, table.symbols, [...table.unreadable], rows])
}

function showNumber(value = Number.NaN): string {
  return Object.is(value, -0) ? '-0' : String(value)
}

export interface Comparison {
  /** Answers that both readers were given. */
  answers: number
  /** Of them, how many the scanner read without the other's help. */
  scanned: number
  /** The first answer that they read differently, if there was one. */
  difference: string | undefined
}

/** The scanner beside the reader that parses, on so many answers, each as it was and disturbed several times. */
export function compareReaders(seed: string, answersMax: number): Comparison {
  const random = createRandom(seed)
  const comparison: Comparison = { answers: 0, scanned: 0, difference: undefined }
  const scanner = new TickerScanner()
  const [scannedTable, parsedTable] = [new TickerTable(16), new TickerTable(16)]
  while (comparison.answers < answersMax && comparison.difference === undefined) {
    const answer = drawAnswer(random)
    for (let round = 0; round < 12; round++) {
      const body = round % 3 === 2 ? disturb(answer, random) : Buffer.from(answer)
      const parses = countParses(() => comparePair(body))
      comparison.answers++
      if (parses.count === 1) comparison.scanned++
      if (parses.result !== undefined) comparison.difference = parses.result
    }
  }
  return comparison

  function comparePair(body: Buffer): string | undefined {
    const scanned = outcomeOf(scanner.read(body, scannedTable), scannedTable)
    const parsed = outcomeOf(readTickersJson(body, parsedTable), parsedTable)
    return scanned === parsed
      ? undefined
      : `${body.toString('latin1')}\n  scanned ${scanned}\n  parsed  ${parsed}`
  }
}

/** How often JSON.parse was asked: once by the reader that parses, once more where the scanner gave up. */
function countParses<Result>(run: () => Result): {
  readonly count: number
  readonly result: Result
} {
  const { parse } = JSON
  let count = 0
  JSON.parse = (text, reviver) => {
    count++
    return parse(text, reviver) as unknown
  }
  try {
    return { result: run(), count }
  } finally {
    JSON.parse = parse
  }
}

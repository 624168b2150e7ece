/** Which columns of a CSV are what, by its header, or by its first line where it has none. */
import { type Separator, separatorOf, splitCells } from '../csv-columns.ts'
import type { Field } from '../recording.ts'

export type ShapeKind = 'candles' | 'quotes' | 'trades'
/** What is read of a row: fields of prices, and of a trade its price and size. */
export type ShapeField = Field | 'price' | 'size'

export interface CsvShape {
  readonly kind: ShapeKind
  readonly separator: Separator
  readonly hasHeader: boolean
  /** A name for each column of the file: its field, or what nobody reads. */
  readonly columns: readonly string[]
  readonly fields: readonly ShapeField[]
}

/** Names in headers, in small letters without spaces and underscores; the first that is there counts. */
const NAMES: Readonly<Record<ShapeField, readonly string[]>> = {
  at: [
    ...['tsms', 'opentime', 'start', 'starttime', 'timestamp', 'time', 'ts', 'unix', 'transacttime'],
    ...['datetime', 'date'],
  ],
  open: ['open', 'openprice'],
  high: ['high', 'highprice'],
  low: ['low', 'lowprice'],
  close: ['close', 'closeprice'],
  volume: ['volume', 'vol', 'basevolume'],
  bid: ['bid'],
  ask: ['ask'],
  bidSize: ['bidsz', 'bidsize'],
  askSize: ['asksz', 'asksize'],
  last: ['last'],
  mark: ['mark', 'markprice'],
  fundingRate: ['fundingrate'],
  price: ['price'],
  size: ['size', 'qty', 'quantity', 'amount', 'volume'],
}

const KINDS: readonly {
  kind: ShapeKind
  required: readonly ShapeField[]
  optional: readonly ShapeField[]
}[] = [
  {
    kind: 'candles',
    required: ['at', 'open', 'high', 'low', 'close', 'volume'],
    optional: ['mark', 'fundingRate'],
  },
  {
    kind: 'quotes',
    required: ['at', 'bid', 'ask', 'bidSize', 'askSize', 'last'],
    optional: ['volume', 'mark', 'fundingRate'],
  },
  { kind: 'trades', required: ['at', 'price', 'size'], optional: [] },
]

const CANDLE_COLUMNS = ['at', 'open', 'high', 'low', 'close', 'volume'] as const

/** @returns undefined for a line that is neither a known header nor a row of a known shape. */
export function findShape(firstLine: string): CsvShape | undefined {
  const separator = separatorOf(firstLine)
  const cells = splitCells(firstLine, separator)
  const shape = /^\d/.test(cells[0] ?? '') ? shapeOfRow(cells) : shapeOfHeader(cells)
  return shape && { ...shape, separator }
}

function shapeOfHeader(cells: readonly string[]): Omit<CsvShape, 'separator'> | undefined {
  const header = cells.map((cell) => cell.toLowerCase().replaceAll(/[ _]/g, ''))
  for (const { kind, required, optional } of KINDS) {
    const places = new Map(
      [...required, ...optional].map((field) => {
        const name = NAMES[field].find((candidate) => header.includes(candidate))
        return [field, name === undefined ? -1 : header.indexOf(name)]
      }),
    )
    if (required.some((field) => places.get(field) === -1)) continue
    const fields = [...places].filter(([, place]) => place >= 0)
    const columns = header.map((_, place) => fields.find(([, at]) => at === place)?.[0] ?? `other ${place}`)
    return { kind, hasHeader: true, columns, fields: fields.map(([field]) => field) }
  }
  return undefined
}

/**
 * Binance's dumps of spot have no header, nor have its old ones of futures: candles of twelve columns; trades and
 * aggregated trades that end in `true` or `false`, once or twice. Six and seven columns of numbers are candles.
 */
function shapeOfRow(cells: readonly string[]): Omit<CsvShape, 'separator'> | undefined {
  const flags = cells.filter((cell) => /^(true|false)$/i.test(cell)).length
  const fill = (columns: readonly string[]) => cells.map((_, place) => columns[place] ?? `other ${place}`)
  const trades = { kind: 'trades', hasHeader: false, fields: ['at', 'price', 'size'] } as const
  if (flags > 0) {
    const numbers = cells.length - flags
    if (numbers === 5) return { ...trades, columns: fill(['id', 'price', 'size', 'quoteSize', 'at']) }
    if (numbers === 6) return { ...trades, columns: fill(['id', 'price', 'size', 'from', 'to', 'at']) }
    return undefined
  }
  if (![6, 7, 12].includes(cells.length)) return undefined
  return { kind: 'candles', hasHeader: false, fields: CANDLE_COLUMNS, columns: fill(CANDLE_COLUMNS) }
}

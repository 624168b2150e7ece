/** Counts wrong rows, and notes the place of the first. */
import { Failure } from '../../lib/failure.ts'
import { assertRowCount } from '../price-file.ts'
import { type CandleRows, type Field, FIELDS, type QuoteRows, toRows } from '../recording.ts'
import { findGaps, type Gaps } from './gaps.ts'
import { findOutliers } from './outliers.ts'
import { assertOneInterval, MONTH_MS_MIN } from '../candle-times.ts'
import { PRICE_MAX } from '../check-rows.ts'
import { toOpenTimes } from './table-times.ts'
import {
  addFindings,
  type RowFinding,
  findDisorder,
  findRows,
  isTooMuchImpossible,
  type PriceTable,
} from './price-table.ts'

export interface Findings {
  readonly disorder: RowFinding
  /** Rows that repeat a time, quote or trade id are dropped. */
  readonly duplicates: RowFinding
  readonly conflicts: RowFinding
  readonly zeroPrices: RowFinding
  /** Rows with crossed or negative values are dropped. */
  readonly impossible: RowFinding
  readonly offInterval: RowFinding
  /** Rows far from the price before are counted and kept. `first` also states the price. */
  readonly outliers: RowFinding
}

export interface CleanRows {
  readonly rows: CandleRows | QuoteRows
  readonly intervalMs?: number
  readonly findings: Findings
  readonly gaps: Gaps
  readonly leftAside: readonly Field[]
  /** True if the rows were stamped by their close; their times were converted. */
  readonly isByClose: boolean
  readonly remarks: readonly string[]
}

const PRICES: readonly Field[] = ['open', 'high', 'low', 'close', 'bid', 'ask', 'last', 'mark']
const SIZES: readonly Field[] = ['volume', 'bidSize', 'askSize']

type TableColumns = ReadonlyMap<Field, Float64Array>

/**
 * @param tables of one kind and one interval @throws Failure RECORDING_TOO_LARGE;
 * RECORDING_INTERVAL_CHANGES; RECORDING_CANDLE_IMPOSSIBLE if many rows are; RECORDING_EMPTY if no
 * row is left
 */
export function cleanTables(tables: readonly PriceTable[], intervalMs?: number): CleanRows {
  const opened = tables.map((table) => toOpenTimes(table, intervalMs))
  const sorted = opened.toSorted((one, other) => beginOf(one) - beginOf(other))
  const { columns, leftAside } = joinColumns(sorted)
  const whereOf = whereIn(sorted)
  const at = columns.get('at') as Float64Array
  const isImpossible = findImpossible(columns)
  const hasPrices = (row: number) =>
    PRICES.every((field) => !((columns.get(field)?.[row] ?? 1) <= 0))
  const zeroPrices = findRows(at.length, (row) => !hasPrices(row), whereOf)
  const impossible = findRows(at.length, (row) => hasPrices(row) && isImpossible(row), whereOf)
  const hasNoHeader = sorted.some(({ isByPlace }) => isByPlace === true)
  const isOtherOrder = hasNoHeader
    ? impossible.count > 0
    : isTooMuchImpossible(impossible.count, at.length)
  if (isOtherOrder) throw otherOrder(impossible, at.length)
  const inTrades = (name: 'zeroPrices' | 'impossible' | 'duplicates') =>
    sorted.map(({ trades }) => trades?.[name] ?? { count: 0 })
  const possible = sortStably(
    Uint32Array.from(at, (_, row) => row).filter((row) => hasPrices(row) && !isImpossible(row)),
    at,
  )
  const offset = offsetOf(at, possible, intervalMs)
  const isOff = (row: number) =>
    offset !== undefined && (at[row] as number) % (intervalMs ?? 1) !== offset
  const onTime = possible.filter((row) => !isOff(row))
  const isDouble = findDoubles(columns, onTime)
  const order = onTime.filter((_, place) => !isDouble(place))
  if (order.length === 0)
    throw nothingLeft(sorted, {
      zeroPrices: addFindings([...inTrades('zeroPrices'), zeroPrices]),
      impossible: addFindings([...inTrades('impossible'), impossible]),
    })
  const rows = pickRows(columns, order, intervalMs)
  const inOrder = (places: Uint32Array) => (place: number) => whereOf(places[place] as number)
  if (intervalMs !== undefined) assertOneInterval(rows.at, intervalMs, inOrder(order))
  return {
    rows,
    ...(intervalMs !== undefined && { intervalMs }),
    isByClose: sorted.some((table) => table.isByClose === true),
    remarks: [...new Set(sorted.flatMap(({ remarks = [] }) => remarks))],
    findings: {
      disorder: addFindings(sorted.map((table) => disorderOf(table))),
      duplicates: addFindings([
        ...inTrades('duplicates'),
        findRows(onTime.length, isDouble, inOrder(onTime)),
      ]),
      conflicts: findRows(
        onTime.length,
        (place) =>
          isDouble(place) &&
          !isEqual(columns, onTime[place] as number, onTime[place - 1] as number),
        inOrder(onTime),
      ),
      zeroPrices: addFindings([...inTrades('zeroPrices'), zeroPrices]),
      impossible: addFindings([...inTrades('impossible'), impossible]),
      offInterval: findRows(
        possible.length,
        (place) => isOff(possible[place] as number),
        inOrder(possible),
      ),
      outliers: findOutliers(rows, inOrder(order)),
    },
    gaps: findGaps(rows.at, intervalMs),
    leftAside,
  }
}

function pickRows(
  columns: TableColumns,
  order: Uint32Array,
  intervalMs: number | undefined,
): CandleRows | QuoteRows {
  return toRows(
    intervalMs === undefined ? 'quotes' : 'candles',
    new Map(
      [...columns].map(([field, numbers]) => [
        field,
        Float64Array.from(order, (row) => numbers[row] as number),
      ]),
    ),
  )
}

function beginOf({ columns }: PriceTable): number {
  const at = columns.get('at') as Float64Array
  return Math.min(at[0] ?? Number.POSITIVE_INFINITY, at.at(-1) ?? Number.POSITIVE_INFINITY)
}

function disorderOf({ disorder, columns, whereOf }: PriceTable): RowFinding {
  return disorder ?? findDisorder(columns.get('at') as Float64Array, whereOf)
}

function joinColumns(tables: readonly PriceTable[]): {
  columns: TableColumns
  leftAside: readonly Field[]
} {
  const rows = tables.reduce(
    (sum, { columns }) => sum + (columns.get('at') as Float64Array).length,
    0,
  )
  assertRowCount(rows)
  const { required, optional } = FIELDS[tables[0]?.kind === 'quotes' ? 'quotes' : 'candles']
  const found = optional.filter((field) => tables.some(({ columns }) => columns.has(field)))
  const common = found.filter((field) => tables.every(({ columns }) => columns.has(field)))
  const join = (field: Field) => {
    const joined = new Float64Array(rows)
    let at = 0
    for (const { columns } of tables) {
      const numbers = columns.get(field) as Float64Array
      joined.set(numbers, at)
      at += numbers.length
    }
    return joined
  }
  return {
    columns: new Map([...required, ...common].map((field) => [field, join(field)])),
    leftAside: found.filter((field) => !common.includes(field)),
  }
}

function whereIn(tables: readonly PriceTable[]): (row: number) => string {
  return (row) => {
    let rest = row
    for (const { columns, whereOf } of tables) {
      const { length } = columns.get('at') as Float64Array
      if (rest < length) return whereOf(rest)
      rest -= length
    }
    return ''
  }
}

function findImpossible(columns: TableColumns): (row: number) => boolean {
  const valueOf = (field: Field, row: number) => columns.get(field)?.[row] ?? 0
  const isBroken = (row: number) =>
    [...columns.values()].some((numbers) => !Number.isFinite(numbers[row])) ||
    SIZES.some((field) => valueOf(field, row) < 0) ||
    PRICES.some((field) => valueOf(field, row) > PRICE_MAX)
  if (columns.has('bid')) return (row) => valueOf('bid', row) > valueOf('ask', row) || isBroken(row)
  return (row) => {
    const [open, close] = [valueOf('open', row), valueOf('close', row)]
    const isInside =
      valueOf('high', row) >= Math.max(open, close) && valueOf('low', row) <= Math.min(open, close)
    return !isInside || isBroken(row)
  }
}

function sortStably(rows: Uint32Array, at: Float64Array): Uint32Array {
  const timeOf = (row: number) => at[row] as number
  const isOrdered = rows.every(
    (row, place) => place === 0 || timeOf(rows[place - 1] as number) <= timeOf(row),
  )
  return isOrdered ? rows : rows.sort((one, other) => timeOf(one) - timeOf(other) || one - other)
}

function offsetOf(at: Float64Array, rows: Uint32Array, intervalMs?: number): number | undefined {
  if (intervalMs === undefined || intervalMs >= MONTH_MS_MIN) return undefined
  const counts = new Map<number, number>()
  for (const row of rows) {
    const offset = (at[row] as number) % intervalMs
    counts.set(offset, (counts.get(offset) ?? 0) + 1)
  }
  return [...counts].toSorted(([, one], [, other]) => other - one)[0]?.[0]
}

function findDoubles(columns: TableColumns, rows: Uint32Array): (place: number) => boolean {
  const at = columns.get('at') as Float64Array
  const isCandles = columns.has('open')
  return (place) => {
    if (place === 0) return false
    const [row, before] = [rows[place] as number, rows[place - 1] as number]
    return at[row] === at[before] && (isCandles || isEqual(columns, row, before))
  }
}

function isEqual(columns: TableColumns, row: number, other: number): boolean {
  return [...columns.values()].every((numbers) => numbers[row] === numbers[other])
}

function otherOrder({ count, first = '' }: RowFinding, rows: number): Failure {
  return new Failure({
    code: 'RECORDING_CANDLE_IMPOSSIBLE',
    sentence: 'rows are impossible: a high below, or a low above another price',
    facts: { rows, impossible: count, first },
    hint: 'the columns stand in another order, or under other names, than it seems: give them a header',
  })
}

function nothingLeft(
  tables: readonly PriceTable[],
  { zeroPrices, impossible }: Pick<Findings, 'zeroPrices' | 'impossible'>,
): Failure {
  const describe = ({ count, first }: RowFinding) => `${count} rows, the first ${first}`
  return new Failure({
    code: 'RECORDING_EMPTY',
    sentence: 'no usable row is left',
    facts: {
      file: [...new Set(tables.map(({ source }) => source))].join(', '),
      ...(zeroPrices.count > 0 && { 'zero prices': describe(zeroPrices) }),
      ...(impossible.count > 0 && { impossible: describe(impossible) }),
    },
    hint: 'check the order of the columns',
  })
}

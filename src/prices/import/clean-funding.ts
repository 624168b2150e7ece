import { Failure } from '../../lib/failure.ts'
import { MEDIAN_RATE_MAX, RATE_MAX } from '../funding.ts'
import { findGaps, type Gaps } from './gaps.ts'
import {
  addFindings,
  type RowFinding,
  findDisorder,
  findRows,
  type PriceTable,
} from './price-table.ts'

const HOUR_MS = 3_600_000
/** Exchanges stamp a payment up to some seconds late. */
const LATE_MS_MAX = 60_000

export interface CleanFunding {
  readonly at: Float64Array
  readonly rates: Float64Array
  readonly findings: Readonly<
    Record<'disorder' | 'duplicates' | 'conflicts' | 'otherPeriods', RowFinding>
  >
  readonly gaps: Gaps
}

interface FundingRow {
  readonly at: number
  readonly rate: number
  readonly periodMs: number
  readonly where: () => string
}

/**
 * @throws Failure IMPORT_FUNDING_TIME, IMPORT_FUNDING_PERCENT, IMPORT_FUNDING_RATE,
 * IMPORT_FUNDING_PREDICTED
 */
export function cleanFunding(tables: readonly PriceTable[]): CleanFunding {
  const lists = tables.map(listPayments)
  for (const list of lists) assertPaid(list)
  const payments = lists.flat()
  assertShares(payments, tables[0]?.source ?? '')
  const sorted = payments.toSorted((one, other) => one.at - other.at)
  const isDouble = (place: number) => place > 0 && sorted[place]?.at === sorted[place - 1]?.at
  const isConflict = (place: number) =>
    isDouble(place) && sorted[place]?.rate !== sorted[place - 1]?.rate
  const whereOf = (place: number) => sorted[place]?.where() ?? ''
  const kept = sorted.filter((_, place) => !isDouble(place))
  const at = Float64Array.from(kept, (payment) => payment.at)
  const { count, longestMs, longestFrom } = findGaps(at, longestPeriod(at))
  const disorders = tables.map((table) =>
    findDisorder(table.columns.get('at') as Float64Array, table.whereOf),
  )
  return {
    at,
    rates: Float64Array.from(kept, ({ rate }) => rate),
    findings: {
      disorder: addFindings(disorders),
      duplicates: findRows(sorted.length, isDouble, whereOf),
      conflicts: findRows(sorted.length, isConflict, whereOf),
      otherPeriods: findRows(
        kept.length,
        (place) => isOtherPeriod(kept[place], kept[place - 1]),
        (place) => kept[place]?.where() ?? '',
      ),
    },
    gaps: { count, longestMs, ...(longestFrom !== undefined && { longestFrom }) },
  }
}

/** A row may state the period that ends with it, or the next one. */
function isOtherPeriod(payment?: FundingRow, before?: FundingRow): boolean {
  if (!payment || !before) return false
  const said = [payment.periodMs, before.periodMs].filter((periodMs) => !Number.isNaN(periodMs))
  return said.length > 0 && !said.includes(payment.at - before.at)
}

/** If there are two rates for one payment, at least one was predicted. */
function assertPaid(payments: readonly FundingRow[]): void {
  const rates = new Map<number, number>()
  for (const { at, rate, where } of payments) {
    const other = rates.get(at)
    if (other !== undefined && other !== rate)
      throw predicted(where(), `${rate}, and ${other} for the same payment`)
    rates.set(at, rate)
  }
}

function listPayments({ columns, periodHours, whereOf }: PriceTable): readonly FundingRow[] {
  const [at, rates] = [
    columns.get('at') as Float64Array,
    columns.get('fundingRate') as Float64Array,
  ]
  return Array.from(at, (time, row) => {
    const where = () => whereOf(row)
    const periodMs = (periodHours?.[row] ?? Number.NaN) * HOUR_MS
    return { at: toHour(time, where), rate: rates[row] as number, periodMs, where }
  })
}

function toHour(time: number, where: () => string): number {
  const hour = Math.round(time / HOUR_MS) * HOUR_MS
  if (Math.abs(time - hour) <= LATE_MS_MAX) return hour
  throw new Failure({
    code: 'IMPORT_FUNDING_TIME',
    sentence: 'funding is paid at whole hours, and this is the time of something else',
    facts: { where: where(), found: new Date(time).toISOString() },
    hint: 'give the rates that were paid, a row for each payment; predicted rates are none',
  })
}

function assertShares(payments: readonly FundingRow[], source: string): void {
  const sizes = payments.map(({ rate }) => Math.abs(rate)).toSorted((one, other) => one - other)
  const median = sizes[Math.floor(sizes.length / 2)] ?? 0
  if (median <= MEDIAN_RATE_MAX) {
    const large = payments.find(({ rate }) => Math.abs(rate) > RATE_MAX)
    if (large) throw tooLarge(large)
    return
  }
  throw new Failure({
    code: 'IMPORT_FUNDING_PERCENT',
    sentence: 'the rates are too large for shares: they may be in percent',
    facts: { file: source, median },
    hint: 'a rate is a share, 0.0001 is 1 bp; percent are read with their sign, 0.01%',
  })
}

function tooLarge({ rate, where }: FundingRow): Failure {
  return new Failure({
    code: 'IMPORT_FUNDING_RATE',
    sentence: 'a rate of funding is more than a tenth of the position',
    facts: { where: where(), found: String(rate) },
    hint: 'a rate is a share, 0.0001 is 1 bp: correct the row, or take the file from its source again',
  })
}

export function predicted(where: string, found: string): Failure {
  return new Failure({
    code: 'IMPORT_FUNDING_PREDICTED',
    sentence: 'these rates of funding are predicted ones, and not those that were paid',
    facts: { where, found },
    hint: 'take the history of the rates that were paid, a row for each payment',
  })
}

/**
 * Periods change from eight hours to four and one, so only a period longer than all usual ones is a
 * gap.
 */
function longestPeriod(at: Float64Array): number {
  const counts = new Map<number, number>()
  for (let row = 1; row < at.length; row++) {
    const step = (at[row] as number) - (at[row - 1] as number)
    counts.set(step, (counts.get(step) ?? 0) + 1)
  }
  const usual = [...counts].filter(([, count]) => count > 1 && count >= at.length / 100)
  return usual.length === 0 ? Number.POSITIVE_INFINITY : Math.max(...usual.map(([step]) => step))
}

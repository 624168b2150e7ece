import { Failure } from '../../lib/failure.ts'
import { MONTH_MS_MIN, shortOfClose, STEPS_OF_OTHER } from '../candle-times.ts'
import { findInterval } from './gaps.ts'
import type { PriceTable } from './price-table.ts'
import { intervalInName, nameInterval } from '../times.ts'

/** A step of fewer rows comes from misplaced rows. */
const ASTRAY_SHARE_MAX = 0.1

/**
 * A thin market may not show its interval, so one that is stated by file, operator or name comes
 * first.
 * @throws Failure IMPORT_INTERVAL_DIFFERS, IMPORT_INTERVAL_MONTHS
 */
export function intervalOf(
  { intervalMs, source, columns }: PriceTable,
  given?: number,
): number | undefined {
  const stated = intervalMs ?? intervalInName(source)
  if (given !== undefined && stated !== undefined && stated !== given)
    throw intervalGiven(source, given, stated)
  if (intervalMs !== undefined) return assertNoMonths(intervalMs, source)
  const at = (columns.get('at') as Float64Array).toSorted()
  const [named, found] = [stated ?? given, findInterval(at)]
  const isMonths = found === undefined && MONTHS_IN_NAME.test(source)
  assertNoMonths(isMonths ? MONTH_MS_MIN : (found ?? 0), source)
  if (named === undefined || found === undefined) return found ?? named
  const steps = stepsOf(at)
  const astray = steps.filter((step) => step % named !== 0).length
  const isCoarser = steps.length >= STEPS_OF_OTHER && commonDivisor(steps) > named
  if (astray <= steps.length * ASTRAY_SHARE_MAX && !isCoarser) return named
  throw new Failure({
    code: 'IMPORT_INTERVAL_DIFFERS',
    sentence:
      given === undefined
        ? 'the times of the file contradict the interval in its name'
        : 'the times of the file contradict the interval that was given',
    facts: {
      file: source,
      [given === undefined ? 'name' : 'given']: nameInterval(named),
      found: nameInterval(found),
    },
    hint: 'look at the file; if its times are right, rename it, or give another interval',
  })
}

function intervalGiven(file: string, given: number, stated: number): Failure {
  return new Failure({
    code: 'IMPORT_INTERVAL_DIFFERS',
    sentence: 'the file or its name says another interval than --interval',
    facts: { file, given: nameInterval(given), found: nameInterval(stated) },
    hint: 'trades become candles of a minute; if the name of a file is wrong, rename it',
  })
}

const MONTHS_IN_NAME = /[-_ ]\d{1,2}(?:M|mo|mon|months?)(?![A-Za-z0-9])/

function assertNoMonths(intervalMs: number, file: string): number {
  if (intervalMs < MONTH_MS_MIN) return intervalMs
  throw new Failure({
    code: 'IMPORT_INTERVAL_MONTHS',
    sentence: 'candles of a month are not of one length',
    facts: { file },
    hint: 'import candles of a week or less',
  })
}

function stepsOf(at: Float64Array): Float64Array {
  return at
    .subarray(1)
    .map((time, row) => time - (at[row] as number))
    .filter((step) => step > 0)
}

function commonDivisor(numbers: Float64Array): number {
  let [common] = numbers as Iterable<number> as [number]
  for (const number of numbers) {
    let rest = number
    while (rest !== 0) [common, rest] = [rest, common % rest]
  }
  return common
}

/**
 * A stamp of 12:00:59.999 is the end of a candle. If it were taken for the open, a price would be
 * known a candle too late.
 */
export function toOpenTimes(table: PriceTable, intervalMs: number | undefined): PriceTable {
  if (intervalMs === undefined || intervalMs >= MONTH_MS_MIN) return { ...table, isByClose: false }
  const at = table.columns.get('at') as Float64Array
  const shortMs = shortOfClose(at, intervalMs)
  if (shortMs === 0 && table.isByClose !== true) return table
  const opens = at.map((time) => time + shortMs - intervalMs)
  const remark = `times were those of the closes (${new Date(at[0] as number).toISOString().slice(11, 23)}), made those of the opens`
  return {
    ...table,
    columns: new Map([...table.columns, ['at', opens]]),
    isByClose: true,
    remarks: [...(table.remarks ?? []), remark],
  }
}

import { sha256 } from '../lib/digest.ts'
import { Failure } from '../lib/failure.ts'
import type { CandleRows, QuoteRows, RecordedFunding, Recording } from './recording.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 3_600_000
/** If the median rate is above this, the file is in percent. */
export const MEDIAN_RATE_MAX = 0.003
/** No exchange charges a tenth of a position at once, so such a rate is in percent. */
export const RATE_MAX = 0.1

/**
 * Exchanges add some milliseconds, so payments are rounded to whole hours. @throws Failure
 * RECORDING_FUNDING_TIMES, RECORDING_FUNDING_RATE
 */
export function buildFunding(
  { at, rate, source }: Pick<RecordedFunding, 'at' | 'rate' | 'source'>,
  whereOf: (row: number) => string,
): RecordedFunding {
  const hours = at.map((paidAt, row) => toHour(paidAt, () => whereOf(row)))
  assertShares(rate, whereOf(0))
  for (let row = 0; row < hours.length; row++) {
    if (!(Math.abs(rate[row] ?? Number.NaN) <= RATE_MAX)) {
      throw new Failure({
        code: 'RECORDING_FUNDING_RATE',
        sentence: 'a rate of funding is more than a tenth of the position',
        facts: { where: whereOf(row), found: String(rate[row]) },
        hint: 'rates are shares: 0.0001 is 0.01 %',
      })
    }
    if (row === 0 || (hours[row] as number) > (hours[row - 1] as number)) continue
    throw new Failure({
      code: 'RECORDING_FUNDING_TIMES',
      sentence: 'a payment of funding is not later than the one before',
      facts: { where: whereOf(row), found: `${at[row]} after ${at[row - 1]}` },
      hint: 'sort the rows by time, and remove doubles',
    })
  }
  const digest = sha256([hours.join(','), rate.join(',')]).toString('hex')
  return { at: hours, rate, source, sha256: digest }
}

function toHour(paidAt: number, where: () => string): number {
  const hour = Math.round(paidAt / HOUR_MS) * HOUR_MS
  if (Math.abs(paidAt - hour) <= MINUTE_MS) return hour
  throw new Failure({
    code: 'RECORDING_FUNDING_TIMES',
    sentence: 'funding is paid at whole hours, and this is the time of something else',
    facts: { where: where(), found: new Date(paidAt).toISOString() },
    hint: 'give the rates that were paid, a row for each payment; predicted rates are none',
  })
}

/** @throws Failure RECORDING_FUNDING_RATE for rates that are in percent */
export function assertShares(rates: Float64Array, where: string): void {
  const sizes = rates.map(Math.abs).toSorted()
  const median = sizes[Math.floor(sizes.length / 2)] ?? 0
  if (median <= MEDIAN_RATE_MAX) return
  throw new Failure({
    code: 'RECORDING_FUNDING_RATE',
    sentence:
      'half of the rates of funding are above 0.3 % of the position, so they are in percent',
    facts: { where, found: `median ${median}` },
    hint: 'rates are shares: 0.0001 is 0.01 %',
  })
}

/**
 * Each row with a rate is a payment, unless every row has one: then the rates do not say when they
 * are paid, and stay.
 * @throws Failure as {@link buildFunding}
 */
export function takeOutPayments(
  rows: CandleRows | QuoteRows,
  source: string,
  whereOf: (row: number) => string,
): Pick<Recording, 'rows' | 'funding'> {
  const { fundingRate, ...others } = rows
  if (fundingRate?.some(Number.isNaN) !== true) return { rows }
  const paid = [...fundingRate.keys()].filter((row) => !Number.isNaN(fundingRate[row]))
  if (paid.length === 0) return { rows: others }
  const pick = (column: Float64Array) => Float64Array.from(paid, (row) => column[row] as number)
  const payments = { at: pick(rows.at), rate: pick(fundingRate), source }
  return {
    rows: others,
    funding: buildFunding(payments, (index) => whereOf(paid[index] as number)),
  }
}

/** Lists hours in UTC. Undefined if there are none, or too many to tell. */
export function describeOtherTimes(
  { at, fundingRate }: Recording['rows'],
  minutes: readonly number[],
) {
  if (fundingRate === undefined) return undefined
  const changed = new Set<number>()
  for (let row = 1; row < at.length; row++) {
    if (fundingRate[row] === fundingRate[row - 1]) continue
    const before = Math.floor((at[row - 1] as number) / MINUTE_MS)
    const minute = Math.round((at[row] as number) / MINUTE_MS)
    // A row is valid from its end, so the change is at a full hour at either end.
    const hour =
      Math.floor(minute / 60) * 60 > before
        ? Math.floor(minute / 60) * 60
        : Math.ceil(minute / 60) * 60
    if (hour - minute > minute - before) return undefined
    changed.add(hour % DAY_MINUTES)
  }
  const others = [...changed]
    .filter((minute) => !minutes.includes(minute))
    .toSorted((a, b) => a - b)
  return others.length === 0 ? undefined : showMinutes(others)
}

const DAY_MINUTES = 1440

export function showMinutes(minutes: readonly number[]): string {
  const texts = minutes.map((minute) => new Date(minute * MINUTE_MS).toISOString().slice(11, 16))
  const last = texts.at(-1) ?? ''
  return texts.length > 1 ? `${texts.slice(0, -1).join(', ')} and ${last}` : last
}

import type { RecordedFeeds } from '../../assembly/recordings/recorded-feeds.ts'
import { writePrices } from '../../prices/import/import-prices.ts'
import type { PriceTable } from '../../prices/import/price-table.ts'
import type { PriceCoverage } from '../../report/run-facts.ts'
import type { PlayedEvent, PlayedFeed } from '../virtual-pollers.ts'
import type { RecordedRun } from './recorded-run.ts'
import { medianStep, type ViewedPrices } from '../played-prices.ts'

type QuoteTables = readonly PriceTable[]

const LEAD_STEP_MS_MAX = 100

interface QuotesRange {
  readonly fromAt: number
  readonly toAt: number
}

export function writeRecordedPrices(
  tables: ReadonlyMap<string, QuoteTables>,
  directory: string,
  range: QuotesRange,
): readonly string[] {
  const options = { directory, market: 'futures', isStrict: false, isReplacing: true } as const
  return [...tables].flatMap(([symbol, quotes]) =>
    [
      ...writePrices(new Map([[undefined, standStill(quotes, range)]]), { symbol, options }),
    ].flatMap(({ written }) => (written ? [`${symbol}=${written.file}`] : [])),
  )
}

/** Extends the quotes at constant prices, because a recording holds only changes. */
export function standStill(quotes: QuoteTables, { fromAt, toAt }: QuotesRange): QuoteTables {
  const first = quotes[0]
  const last = quotes.at(-1)
  if (first === undefined || last === undefined) return quotes
  const [firstAt = fromAt, lastAt = toAt] = [timesOf(first)[0], timesOf(last).at(-1)]
  const stepMs = Math.max(1, Math.min(LEAD_STEP_MS_MAX, medianStep(timesOf(first))))
  const lead = Array.from(
    { length: Math.max(0, Math.ceil((firstAt - fromAt) / stepMs)) },
    (_, index) => fromAt + index * stepMs,
  )
  const shown = quotes.findLast((table) => (timesOf(table)[0] ?? 0) <= fromAt)
  return [
    ...(shown === undefined
      ? [repeatRow(first, 0, lead)]
      : [
          repeatRow(
            shown,
            timesOf(shown).findLastIndex((at) => at <= fromAt),
            [fromAt],
          ),
        ]),
    ...quotes,
    repeatRow(last, timesOf(last).length - 1, lastAt < toAt ? [toAt] : []),
  ].filter((table) => timesOf(table).length > 0)
}

/** Keeps the recorded times, so a price counts as no newer and closes candles no sooner. */
export function asRecorded(
  coverage: readonly PriceCoverage[],
  tables: ReadonlyMap<string, QuoteTables>,
): readonly ViewedPrices[] {
  return coverage.map(({ symbol, fromAt, toAt }) => {
    const firstAt = (tables.get(symbol) ?? [])
      .flatMap((table) => [...timesOf(table)])
      .findLast((at) => at <= fromAt)
    return { symbol, fromAt, toAt, stepMs: 0, ...(firstAt !== undefined && { firstAt }) }
  })
}

function timesOf({ columns }: PriceTable): Float64Array {
  return columns.get('at') ?? new Float64Array(0)
}

function repeatRow(table: PriceTable, row: number, times: readonly number[]): PriceTable {
  const columns = new Map(
    [...table.columns].map(([field, numbers]) => [
      field,
      field === 'at'
        ? Float64Array.from(times)
        : new Float64Array(times.length).fill(numbers[row] ?? Number.NaN),
    ]),
  )
  return { ...table, columns }
}

interface PricesRead {
  /** Exchange clock, ascending: all readings of the recorded run. */
  readonly readsAt: readonly number[]
  readonly latencyMs: number
}

/**
 * Each reading of a feed stays between the same two readings of prices, so that decisions see the
 * same.
 */
export function playRecordedFeeds(feeds: RecordedFeeds, prices: PricesRead): readonly PlayedFeed[] {
  return [...feeds].map(([feed, recorded]) => ({
    feed,
    heardAt: recorded.map(({ reading: { readAt }, after }) => placeBetween(readAt, after, prices)),
    reading: (index) => {
      const found = recorded[index]
      if (found === undefined) throw new RangeError(`feed ${feed} has no reading ${index}`)
      return found.reading
    },
  }))
}

/** No candles are played before the run has started, as a daemon takes none before. */
export function playRecordedCandles(
  fetched: RecordedRun['fetched'],
  prices: PricesRead & { readonly firstAt: number },
): readonly PlayedEvent[] {
  const started = prices.firstAt + prices.latencyMs - 1
  return fetched.map(({ at, after, event }) => ({
    at: Math.max(started, placeBetween(at, after, prices)),
    event,
  }))
}

function placeBetween(readAt: number, after: number, { readsAt, latencyMs }: PricesRead): number {
  const before = (readsAt[after - 1] ?? Number.NEGATIVE_INFINITY) + latencyMs + 1
  const next = (readsAt[after] ?? Number.POSITIVE_INFINITY) + latencyMs - 1
  return Math.min(Math.max(readAt, before), next)
}

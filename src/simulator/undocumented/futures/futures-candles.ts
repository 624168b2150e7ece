import { type CoreState } from '../../futures/core-state.ts'
import { priceText, sizeText, type Instrument } from '../../futures/instruments/instruments.ts'
import { listedSymbol } from '../../futures/orders/place-orders.ts'
import { refusals } from '../../futures/refusals.ts'
import { accept, refuse } from '../../shared/reply.ts'
import { type DayStatistics } from '../../market/day-statistics.ts'

interface CandleQuery {
  readonly symbol: string
  readonly productType: string
  readonly granularity: string
  readonly startTime?: string | undefined
  readonly endTime?: string | undefined
  readonly limit?: string | undefined
}

const MINUTES: Readonly<Record<string, number>> = {
  '1m': 1,
  '3m': 3,
  '5m': 5,
  '15m': 15,
  '30m': 30,
  '1H': 60,
  '4H': 240,
  '6H': 360,
  '12H': 720,
  '1D': 1440,
  '6Hutc': 360,
  '12Hutc': 720,
  '1Dutc': 1440,
}

const MINUTE_MS = 60_000
const CANDLES_DEFAULT = 100
const CANDLES_MAX = 1000
const VOLUME_DECIMALS = 4

interface Bar {
  startAt: number
  open: number
  high: number
  low: number
  close: number
  lots: number
  quoteVolume: number
}

/**
 * Candles of the last 24 hours, oldest first, from the minutes that the tickers' statistics keep. There are no
 * older ones: a candle of a day is the part of it that is kept.
 */
export function futuresCandles(state: CoreState, _: unknown, query: CandleQuery) {
  const symbol = listedSymbol(state, query)
  if (symbol === undefined) return refuse(refusals.symbolUnknown(query.symbol))
  const minutes = MINUTES[query.granularity]
  if (minutes === undefined) return refuse(refusals.parameter('granularity'))
  const { instrument, statistics } = symbol
  statistics.read(state.clock.now)
  const startAt = Number(query.startTime ?? 0)
  const endAt = Number(query.endTime ?? Number.POSITIVE_INFINITY)
  const limit = Math.min(CANDLES_MAX, Number(query.limit ?? CANDLES_DEFAULT))
  const bars = mergeBars(minuteBars(statistics), minutes * MINUTE_MS).filter(
    (bar) => bar.startAt >= startAt && bar.startAt <= endAt,
  )
  return accept(bars.slice(-limit).map((bar) => toCandle(instrument, bar)))
}

function toCandle(
  instrument: Instrument,
  bar: Bar,
): [string, string, string, string, string, string, string] {
  return [
    String(bar.startAt),
    priceText(instrument, bar.open),
    priceText(instrument, bar.high),
    priceText(instrument, bar.low),
    priceText(instrument, bar.close),
    sizeText(instrument, bar.lots),
    bar.quoteVolume.toFixed(VOLUME_DECIMALS),
  ]
}

/** A minute closes where the next one opens. */
function minuteBars(statistics: DayStatistics): Bar[] {
  const { lastTicks } = statistics.state()
  const buckets = statistics.buckets()
  return buckets.map(
    ({ minute, figures: [open = 0, high = 0, low = 0, lots = 0, quoteVolume = 0] }, index) => {
      const close = buckets[index + 1]?.figures[0] ?? lastTicks
      const startAt = minute * MINUTE_MS
      return {
        startAt,
        open,
        high: Math.max(high, close),
        low: Math.min(low, close),
        close,
        lots,
        quoteVolume,
      }
    },
  )
}

function mergeBars(bars: readonly Bar[], spanMs: number): Bar[] {
  const merged: Bar[] = []
  for (const bar of bars) {
    const startAt = Math.floor(bar.startAt / spanMs) * spanMs
    const last = merged.at(-1)
    if (last?.startAt !== startAt) {
      merged.push({ ...bar, startAt })
      continue
    }
    last.high = Math.max(last.high, bar.high)
    last.low = Math.min(last.low, bar.low)
    last.close = bar.close
    last.lots += bar.lots
    last.quoteVolume += bar.quoteVolume
  }
  return merged
}

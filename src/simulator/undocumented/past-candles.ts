import type { z } from 'zod'
import type { beyondEndpoints } from '../../protocol/beyond/beyond-endpoints.ts'
import { type Granularity, GRANULARITIES } from '../../protocol/beyond/candles.ts'
import type { CoreState, SymbolState } from '../futures/core-state.ts'
import { listedSymbol } from '../futures/instruments/asked-symbols.ts'
import { type Instrument, priceText, sizeText } from '../futures/instruments/instruments.ts'
import type { LivedMinute } from '../market/lived-minutes.ts'
import type { MinuteBar } from '../market/market.ts'
import { accept } from '../shared/reply.ts'

type CandleRow = z.input<typeof beyondEndpoints.candles.response>[number]

interface CandleQuery {
  readonly symbol: string
  readonly productType: string
  readonly granularity: Granularity
  readonly startTime?: string | undefined
  readonly endTime?: string | undefined
  readonly limit?: string | undefined
}

interface CandleRules {
  readonly limitMax: number
  /** The running candle is left out. */
  readonly closedOnly?: boolean
  /** How many days candles go back; default: as far as there are any. */
  readonly days?: (granularity: Granularity) => number | undefined
}

const MINUTE_MS = 60_000
const DAY_MS = 86_400_000
const CANDLES_DEFAULT = 100
const VOLUME_DECIMALS = 4

/** Vendor: "1m, 3m, and 5m can be checked for up to one month" and so on. */
const RECENT_DAYS: Readonly<Partial<Record<Granularity, number>>> = {
  '1m': 30,
  '3m': 30,
  '5m': 30,
  '15m': 52,
  '30m': 62,
  '1H': 83,
  '4H': 240,
  '6H': 360,
  '6Hutc': 360,
}

export function recentDays(granularity: Granularity): number | undefined {
  return RECENT_DAYS[granularity]
}

/**
 * A page of candles, oldest first: the newest that open before `endTime`. They are built from the
 * minutes of the ticker statistics, which go back 24 hours, before them those that the simulator has
 * lived through, as far as a state keeps them, and before them those of the market's past.
 */
export function answerCandles(state: CoreState, query: CandleQuery, rules: CandleRules) {
  const listed = listedSymbol(state, query)
  if (!listed.ok) return listed
  const { now } = state.clock
  const { lengthMs, shiftMs } = GRANULARITIES[query.granularity]
  const openOf = (at: number) => Math.floor((at + shiftMs) / lengthMs) * lengthMs - shiftMs
  const { startTime = 0, endTime = now + 1, limit = CANDLES_DEFAULT } = query
  const runningAt = openOf(now)
  // The first candle that is not shown.
  const endAt = Math.min(
    openOf(Number(endTime) - 1) + lengthMs,
    rules.closedOnly === true ? runningAt : runningAt + lengthMs,
  )
  const days = rules.days?.(query.granularity) ?? Number.POSITIVE_INFINITY
  const rows = Math.min(rules.limitMax, Number(limit))
  const fromAt = Math.max(
    openOf(Number(startTime) + lengthMs - 1),
    endAt - rows * lengthMs,
    Number.isFinite(days) ? openOf(now - days * DAY_MS) : 0,
  )
  const bars = joinMinutes(minutesOf(state, listed.data, { fromAt, endAt }), openOf)
  return accept(bars.map((bar) => toRow(listed.data.instrument, bar)))
}

interface Bar {
  readonly startAt: number
  readonly openTicks: number
  highTicks: number
  lowTicks: number
  closeTicks: number
  lots: number
  quoteVolume: number
}

interface Span {
  /** Unix ms. */
  readonly fromAt: number
  readonly endAt: number
}

/** The market's past, what was lived through, then the statistics, oldest first. */
function* minutesOf(
  { clock }: CoreState,
  { instrument, statistics, past, lived }: SymbolState,
  { fromAt, endAt }: Span,
): Generator<Bar> {
  const valueOfStep = Number(instrument.priceGrid.step) * Number(instrument.sizeGrid.step)
  statistics.read(clock.now)
  const buckets = statistics.buckets(Math.ceil(fromAt / MINUTE_MS))
  const keptFromAt = (buckets[0]?.minute ?? Number.POSITIVE_INFINITY) * MINUTE_MS
  const livedFromAt = Math.min(keptFromAt, (lived?.firstMinute ?? Infinity) * MINUTE_MS)
  const drawn = past?.between(fromAt, Math.min(endAt, livedFromAt)) ?? []
  for (const bar of drawn) yield toBar(bar, valueOfStep)
  const livedUntil = Math.ceil(Math.min(endAt, keptFromAt) / MINUTE_MS)
  for (const one of lived?.between(Math.ceil(fromAt / MINUTE_MS), livedUntil) ?? [])
    yield toLivedBar(one)
  for (const [index, { minute, figures }] of buckets.entries()) {
    const startAt = minute * MINUTE_MS
    if (startAt >= endAt) return
    // A minute closes at the open of the next one.
    const closeTicks = buckets[index + 1]?.figures[0] ?? statistics.state().lastTicks
    yield toLivedBar({ minute, figures, closeTicks })
  }
}

function toLivedBar({ minute, figures, closeTicks }: LivedMinute): Bar {
  const [openTicks = 0, high = 0, low = 0, lots = 0, quoteVolume = 0] = figures
  const highTicks = Math.max(high, closeTicks)
  const lowTicks = Math.min(low, closeTicks)
  const startAt = minute * MINUTE_MS
  return { startAt, openTicks, highTicks, lowTicks, closeTicks, lots, quoteVolume }
}

function toBar(bar: MinuteBar, valueOfStep: number): Bar {
  const typical = (bar.openTicks + bar.highTicks + bar.lowTicks + bar.closeTicks) / 4
  return { ...bar, quoteVolume: typical * bar.lots * valueOfStep }
}

function joinMinutes(minutes: Iterable<Bar>, openOf: (at: number) => number): readonly Bar[] {
  const bars: Bar[] = []
  for (const minute of minutes) {
    const startAt = openOf(minute.startAt)
    const bar = bars.at(-1)
    if (bar?.startAt !== startAt) {
      bars.push({ ...minute, startAt })
      continue
    }
    bar.highTicks = Math.max(bar.highTicks, minute.highTicks)
    bar.lowTicks = Math.min(bar.lowTicks, minute.lowTicks)
    bar.closeTicks = minute.closeTicks
    bar.lots += minute.lots
    bar.quoteVolume += minute.quoteVolume
  }
  return bars
}

function toRow(instrument: Instrument, bar: Bar): CandleRow {
  return [
    String(bar.startAt),
    priceText(instrument, bar.openTicks),
    priceText(instrument, bar.highTicks),
    priceText(instrument, bar.lowTicks),
    priceText(instrument, bar.closeTicks),
    sizeText(instrument, bar.lots),
    bar.quoteVolume.toFixed(VOLUME_DECIMALS),
  ]
}

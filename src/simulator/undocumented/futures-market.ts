import { z } from 'zod'
import { beyondEndpoints } from '../../protocol/beyond/beyond-endpoints.ts'
import {
  CANDLES_PAGE_MAX,
  GRANULARITIES,
  type Granularity,
  HISTORY_CANDLES_PAGE_MAX,
} from '../../protocol/beyond/candles.ts'
import { ticker } from '../../protocol/futures/tickers.ts'
import { productType, symbol } from '../../protocol/values.ts'
import type { CoreState, SymbolState } from '../futures/core-state.ts'
import { listedSymbol, quotedSymbol } from '../futures/instruments/asked-symbols.ts'
import { deliveryStatus } from '../futures/instruments/delivery-status.ts'
import {
  type ListedContract,
  priceText,
  sizeText,
  toMarketInstrument,
} from '../futures/instruments/instruments.ts'
import { toTicker } from '../futures/instruments/ticker-view.ts'
import { nextFundingOf } from '../futures/positions/funding.ts'
import { MARGIN_SYMBOLS, type MarginSymbol } from '../margin/margin-symbols.ts'
import { pastFundingRate } from '../market/fair-price.ts'
import type { ClosedMinute } from '../market/minute-history.ts'
import type { MinuteBar } from '../market/market.ts'
import { accept } from '../shared/reply.ts'
import {
  fromTable,
  type ofProduct,
  readPublic,
  type RowRequest,
  textRow,
} from './undocumented-row.ts'

const named = { symbol, productType }
const text = z.string()

export const futuresMarketRows = {
  serverTime: readPublic('/public/time', {
    shows: z.object({ serverTime: text.describe('Unix ms') }),
    answer: ({ clock }: CoreState) => accept({ serverTime: String(clock.now) }),
  }),
  contracts: fromTable(beyondEndpoints.contracts, futuresContracts),
  candles: fromTable(beyondEndpoints.candles, (state: CoreState, _, query) =>
    answerCandles(state, query, { limitMax: CANDLES_PAGE_MAX, days: recentDays }),
  ),
  historyCandles: fromTable(beyondEndpoints.historyCandles, (state: CoreState, _, query) =>
    answerCandles(state, query, { limitMax: HISTORY_CANDLES_PAGE_MAX, closedOnly: true }),
  ),
  historyFundRate: fromTable(beyondEndpoints.historyFundRate, (state: CoreState, _, query) =>
    answerFundingHistory(state, query),
  ),
  currentFundRate: fromTable(beyondEndpoints.currentFundRate, nextFunding),
  symbolTicker: readPublic('/mix/market/ticker', {
    asks: named,
    shows: z.array(ticker),
    answer: (state: CoreState, _, request) => {
      const quoted = quotedSymbol(state, request)
      return quoted.ok ? accept([toTicker(state, quoted.data)]) : quoted
    },
  }),
  symbolPrice: readPublic('/mix/market/symbol-price', {
    asks: named,
    shows: z.array(textRow('symbol')),
    answer: (state: CoreState, _, request) => {
      const quoted = quotedSymbol(state, request)
      if (!quoted.ok) return quoted
      const { lastPr: price, indexPrice, markPrice, ts } = toTicker(state, quoted.data)
      return accept([{ symbol: request.symbol, price, indexPrice, markPrice, ts }])
    },
  }),
  marginCurrencies: readPublic('/margin/currencies', {
    calls: 10,
    shows: z.array(z.looseObject({ symbol: text, isBorrowable: z.boolean().nullish() })),
    answer: (_state: CoreState) => accept(MARGIN_SYMBOLS.map(toCurrency)),
  }),
}

function futuresContracts(state: CoreState, _: unknown, asked: RowRequest<typeof ofProduct>) {
  const listed = [...state.symbols.values()].filter(
    ({ instrument, isSettled, listedAt }) =>
      instrument.productType === asked.productType &&
      !isSettled &&
      state.clock.now >= listedAt &&
      instrument.symbol === (asked.symbol ?? instrument.symbol),
  )
  return accept(listed.map((entry) => toContract(state, entry)))
}

function nextFunding(state: CoreState, _: unknown, request: RowRequest<typeof named>) {
  const quoted = quotedSymbol(state, request)
  if (!quoted.ok) return quoted
  const { instrument } = quoted.data
  const at = nextFundingOf(state, quoted.data, state.clock.now)
  return accept([
    {
      symbol: instrument.symbol,
      fundingRate: toTicker(state, quoted.data).fundingRate ?? '0',
      fundingRateInterval: fundingHours(instrument),
      nextUpdate: Number.isFinite(at) ? String(at) : '',
    },
  ])
}

function fundingHours({ delivery, fundingMinutes }: ListedContract): string {
  if (delivery !== undefined || fundingMinutes.length === 0) return ''
  return String(24 / fundingMinutes.length)
}

function toContract({ settings, clock }: CoreState, entry: SymbolState) {
  const { instrument, opensAt } = entry
  const { delivery, priceGrid, sizeGrid, priceLimitRatio } = instrument
  return {
    symbol: instrument.symbol,
    baseCoin: instrument.baseCoin,
    quoteCoin: instrument.quoteCoin,
    buyLimitPriceRatio: String(priceLimitRatio),
    sellLimitPriceRatio: String(priceLimitRatio),
    feeRateUpRatio: '0.005',
    makerFeeRate: settings.makerFeeRate,
    takerFeeRate: settings.takerFeeRate,
    openCostUpRatio: '0.01',
    supportMarginCoins: [instrument.marginCoin],
    minTradeNum: sizeText(instrument, instrument.lotsMin),
    priceEndStep: String(priceGrid.units),
    volumePlace: String(sizeGrid.decimals),
    pricePlace: String(priceGrid.decimals),
    sizeMultiplier: sizeGrid.step,
    symbolType: delivery === undefined ? 'perpetual' : 'delivery',
    minTradeUSDT: instrument.notionalMin,
    maxSymbolOrderNum: String(instrument.symbolOrdersMax),
    maxProductOrderNum: String(instrument.productOrdersMax),
    maxPositionNum: '150',
    symbolStatus: SYMBOL_STATUS[deliveryStatus(entry, clock.now)],
    offTime: '-1',
    limitOpenTime: '-1',
    deliveryTime: delivery === undefined ? '' : String(delivery.deliveryAt),
    deliveryStartTime: delivery === undefined ? '' : String(Math.max(delivery.listedAt, opensAt)),
    deliveryPeriod: delivery === undefined ? '' : 'this_quarter',
    launchTime: '',
    fundInterval: fundingHours(instrument),
    minLever: '1',
    maxLever: String(instrument.leverageMax),
    posLimit: '0.05',
    maintainTime: '',
    maxMarketOrderQty: sizeText(instrument, instrument.marketLotsMax),
    maxOrderQty: sizeText(instrument, instrument.limitLotsMax),
    isRwa: 'NO',
  }
}

const SYMBOL_STATUS = {
  delivery_config_period: 'listed',
  delivery_normal: 'normal',
  delivery_before: 'limit_open',
  delivery_period: 'maintain',
} as const

/** Facts of the real listing, where a `maxTradeAmount` of 0 means no maximum. */
function toCurrency(row: MarginSymbol) {
  const { symbol: pair, baseCoin, quoteCoin } = row
  const feeRate = row.feeRate.toString()
  return {
    symbol: pair,
    baseCoin,
    quoteCoin,
    maxCrossedLeverage: row.crossedLeverageMax.toString(),
    maxIsolatedLeverage: row.isolatedLeverageMax.toString(),
    warningRiskRatio: '0.8',
    liquidationRiskRatio: '1',
    minTradeAmount: row.baseMin.toString(),
    maxTradeAmount: '0',
    takerFeeRate: feeRate,
    makerFeeRate: feeRate,
    pricePrecision: String(row.priceDecimals),
    quantityPrecision: String(row.sizeDecimals),
    minTradeUSDT: row.notionalMin.toString(),
    isBorrowable: true,
    userMinBorrow: '1',
    status: '1',
    isIsolatedBaseBorrowable: true,
    isIsolatedQuoteBorrowable: true,
    isCrossBorrowable: true,
  }
}

type CandleTexts = z.input<typeof beyondEndpoints.candles.response>[number]

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
  readonly closedOnly?: boolean
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

function recentDays(granularity: Granularity): number | undefined {
  return RECENT_DAYS[granularity]
}

/**
 * Minutes come from three sources: the ticker statistics (24 hours), their history, and the market's
 * past.
 */
function answerCandles(state: CoreState, query: CandleQuery, rules: CandleRules) {
  const listed = listedSymbol(state, query)
  if (!listed.ok) return listed
  const { now } = state.clock
  const { lengthMs, shiftMs } = GRANULARITIES[query.granularity]
  const openOf = (at: number) => Math.floor((at + shiftMs) / lengthMs) * lengthMs - shiftMs
  const { startTime = 0, endTime = now + 1, limit = CANDLES_DEFAULT } = query
  const runningAt = openOf(now)
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

interface CandleSpan {
  readonly fromAt: number
  readonly endAt: number
}

function* minutesOf(
  { clock }: CoreState,
  { instrument, statistics, past, minuteHistory }: SymbolState,
  { fromAt, endAt }: CandleSpan,
): Generator<Bar> {
  const valueOfStep = Number(instrument.priceGrid.step) * Number(instrument.sizeGrid.step)
  statistics.read(clock.now)
  const buckets = statistics.buckets(Math.ceil(fromAt / MINUTE_MS))
  const keptFromAt = (buckets[0]?.minute ?? Number.POSITIVE_INFINITY) * MINUTE_MS
  const historyFromAt = Math.min(keptFromAt, (minuteHistory?.firstMinute ?? Infinity) * MINUTE_MS)
  const drawn = past?.between(fromAt, Math.min(endAt, historyFromAt)) ?? []
  for (const bar of drawn) yield toBar(bar, valueOfStep)
  const historyUntil = Math.ceil(Math.min(endAt, keptFromAt) / MINUTE_MS)
  for (const one of minuteHistory?.between(Math.ceil(fromAt / MINUTE_MS), historyUntil) ?? [])
    yield toBarOfFigures(one)
  for (const [index, { minute, figures }] of buckets.entries()) {
    const startAt = minute * MINUTE_MS
    if (startAt >= endAt) return
    const closeTicks = buckets[index + 1]?.figures[0] ?? statistics.state().lastTicks
    yield toBarOfFigures({ minute, figures, closeTicks })
  }
}

function toBarOfFigures({ minute, figures, closeTicks }: ClosedMinute): Bar {
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

function toRow(instrument: ListedContract, bar: Bar): CandleTexts {
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

interface FundingHistoryQuery {
  readonly symbol: string
  readonly productType: string
  readonly pageSize?: string | undefined
  readonly pageNo?: string | undefined
}

const PAGE_DEFAULT = 20
/** The rate of a part of eight hours has ten decimals at most. */
const RATE_DECIMALS = 10

function answerFundingHistory(state: CoreState, query: FundingHistoryQuery) {
  const listed = listedSymbol(state, query)
  if (!listed.ok) return listed
  const size = Number(query.pageSize ?? PAGE_DEFAULT)
  const skipped = size * (Number(query.pageNo ?? 1) - 1)
  const payments =
    listed.data.instrument.delivery === undefined ? paymentsOf(state, listed.data) : []
  const page = [...payments].slice(skipped, skipped + size)
  return accept(
    page.map(({ at, rate }) => ({
      symbol: query.symbol,
      fundingRate: shortest(rate),
      fundingTime: String(at),
    })),
  )
}

interface FundingPoint {
  readonly at: number
  readonly rate: number
}

function paymentsOf(state: CoreState, entry: SymbolState): readonly FundingPoint[] {
  const { clock, seed } = state
  const { funding, statistics, past, instrument } = entry
  if (funding !== undefined) {
    return Array.from(funding.at, (at, index) => ({
      at: at + clock.pausedMs,
      rate: funding.rate[index] ?? 0,
    }))
      .filter(({ at }) => at <= clock.now)
      .toReversed()
  }
  statistics.read(clock.now)
  const settled = statistics
    .settlements()
    .map(({ minute, rate }) => ({ at: minute * MINUTE_MS, rate }))
    .toReversed()
  if (past === undefined) return settled
  // The day before the market opened was settled when its statistics were built.
  const settledFromAt = past.untilAt - DAY_MS + MINUTE_MS
  const drawn: FundingPoint[] = []
  const row = toMarketInstrument(instrument)
  for (let day = Math.floor(past.untilAt / DAY_MS); day * DAY_MS > past.fromAt; day--) {
    for (const minuteOfDay of instrument.fundingMinutes.toReversed()) {
      const minute = (day * DAY_MS) / MINUTE_MS + minuteOfDay
      const at = minute * MINUTE_MS
      if (at >= settledFromAt || at < past.fromAt) continue
      drawn.push({ at, rate: pastFundingRate(row, { seed, minute }) })
    }
  }
  return [...settled, ...drawn]
}

function shortest(rate: number): string {
  return rate.toFixed(RATE_DECIMALS).replace(/\.?0+$/, '')
}

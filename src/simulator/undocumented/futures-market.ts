import { z } from 'zod'
import { ticker } from '../../protocol/futures/tickers.ts'
import { beyondEndpoints } from '../../protocol/beyond/beyond-endpoints.ts'
import { CANDLES_PAGE_MAX, HISTORY_CANDLES_PAGE_MAX } from '../../protocol/beyond/candles.ts'
import { productType, symbol } from '../../protocol/values.ts'
import type { CoreState, SymbolState } from '../futures/core-state.ts'
import { quotedSymbol } from '../futures/instruments/asked-symbols.ts'
import { deliveryStatus } from '../futures/instruments/delivery-status.ts'
import { type Instrument, sizeText } from '../futures/instruments/instruments.ts'
import { nextFundingOf } from '../futures/positions/funding.ts'
import { toTicker } from '../futures/instruments/ticker-view.ts'
import { MARGIN_SYMBOLS, type MarginSymbol } from '../margin/margin-symbols.ts'
import { accept } from '../shared/reply.ts'
import { answerCandles, recentDays } from './past-candles.ts'
import { answerFundingHistory } from './past-funding.ts'
import {
  fromTable,
  type ofProduct,
  readPublic,
  textRow,
  type RowRequest,
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
  /** The symbol's row of the tickers, alone in a list. */
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

/** A delivery contract has no payments. */
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

/** As the exchange writes them; empty if there are none. */
function fundingHours({ delivery, fundingMinutes }: Instrument): string {
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

/** Facts of the real listing; `maxTradeAmount` 0 means no maximum there. */
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

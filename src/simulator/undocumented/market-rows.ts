import { z } from 'zod'
import { ticker } from '../../protocol/futures/tickers.ts'
import { productType, symbol } from '../../protocol/values.ts'
import { type CoreState } from '../futures/core-state.ts'
import { accept, refuse } from '../shared/reply.ts'
import { toTicker } from '../futures/instruments/ticker-view.ts'
import { futuresCandles } from './futures/futures-candles.ts'
import { coinInformation, futuresContracts, marginCurrencyRows } from './listings.ts'
import { quotedSymbol } from './futures/listed-symbols.ts'
import { publicColumns, textRow, undocumented } from './undocumented-row.ts'

const candleRequest = z.looseObject({
  symbol,
  productType,
  granularity: z.string().min(1).describe('1m, 5m, 1H, 1D and others'),
  startTime: z.string().optional(),
  endTime: z.string().optional(),
  limit: z.string().optional(),
})

/** Open time (Unix ms), open, high, low, close, base volume, quote volume. */
const candle = z.tuple([z.string(), z.string(), z.string(), z.string(), z.string(), z.string(), z.string()])

/** Public reads outside the document. */
export const marketRows = {
  serverTime: undocumented({
    ...publicColumns,
    path: '/api/v2/public/time',
    request: z.looseObject({}),
    response: z.object({ serverTime: z.string().describe('Unix ms') }),
    answer: ({ clock }: CoreState) => accept({ serverTime: String(clock.now) }),
  }),
  /** What may be traded, and by which rules: the tick is priceEndStep × 10^-pricePlace. */
  contracts: undocumented({
    ...publicColumns,
    path: '/api/v2/mix/market/contracts',
    request: z.looseObject({ productType, symbol: symbol.optional() }),
    response: z.array(
      z.looseObject({ symbol: z.string(), supportMarginCoins: z.array(z.string()).nullish() }),
    ),
    answer: futuresContracts,
  }),
  /** Of the last 24 hours, oldest first. */
  candles: undocumented({
    ...publicColumns,
    path: '/api/v2/mix/market/candles',
    request: candleRequest,
    response: z.array(candle),
    answer: futuresCandles,
  }),
  historyCandles: undocumented({
    ...publicColumns,
    path: '/api/v2/mix/market/history-candles',
    request: candleRequest,
    response: z.array(candle),
    answer: futuresCandles,
  }),
  /** The symbol's row of the tickers, alone in a list. */
  symbolTicker: undocumented({
    ...publicColumns,
    path: '/api/v2/mix/market/ticker',
    request: z.looseObject({ symbol, productType }),
    response: z.array(ticker),
    answer: (state: CoreState, _, request) => {
      const quoted = quotedSymbol(state, request)
      return quoted.ok ? accept([toTicker(state, quoted.value)]) : refuse(quoted.refusal)
    },
  }),
  symbolPrice: undocumented({
    ...publicColumns,
    path: '/api/v2/mix/market/symbol-price',
    request: z.looseObject({ symbol, productType }),
    response: z.array(textRow('symbol')),
    answer: (state: CoreState, _, request) => {
      const quoted = quotedSymbol(state, request)
      if (!quoted.ok) return refuse(quoted.refusal)
      const { lastPr: price, indexPrice, markPrice, ts } = toTicker(state, quoted.value)
      return accept([{ symbol: request.symbol, price, indexPrice, markPrice, ts }])
    },
  }),
  /** The coin information that the document's withdrawal refers to: of every coin, or the one that is asked for. */
  spotCoins: undocumented({
    ...publicColumns,
    path: '/api/v2/spot/public/coins',
    limit: { calls: 3, perMs: 1000, scope: 'ip' },
    request: z.looseObject({ coin: z.string().optional() }),
    response: z.array(z.looseObject({ coin: z.string(), chains: z.array(textRow('chain')).nullish() })),
    answer: (_state: CoreState, _account, { coin }) => accept(coinInformation(coin)),
  }),
  marginCurrencies: undocumented({
    ...publicColumns,
    path: '/api/v2/margin/currencies',
    limit: { calls: 10, perMs: 1000, scope: 'ip' },
    request: z.looseObject({}),
    response: z.array(z.looseObject({ symbol: z.string(), isBorrowable: z.boolean().nullish() })),
    answer: (_state: CoreState) => accept(marginCurrencyRows()),
  }),
}

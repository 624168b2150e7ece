import { z } from 'zod'
import { type WireRequestOf } from '../../protocol/endpoints.ts'
import { exchangeId, orderReference, symbol } from '../../protocol/values.ts'
import { accept } from '../shared/reply.ts'
import { placeRequest, placeSpotOrder } from '../spot/place-spot-order.ts'
import { spotAssetRows, spotSymbolRows, spotUnfilled } from '../spot/spot-queries.ts'
import { type SpotState } from '../spot/spot-state.ts'
import { cancelSpotOrder } from '../spot/spot.ts'
import {
  byEitherId,
  changeColumns,
  placeColumns,
  publicColumns,
  readColumns,
  textRow,
  undocumented,
} from './undocumented-row.ts'

/** Spot prices, balances and orders outside the document, which can only read what was ordered. */
export const spotRows = {
  spotPlaceOrder: undocumented({
    ...placeColumns,
    path: '/api/v2/spot/trade/place-order',
    request: placeRequest,
    response: orderReference,
    answer: placeSpotOrder,
  }),
  spotCancelOrder: undocumented({
    ...changeColumns,
    path: '/api/v2/spot/trade/cancel-order',
    request: z.looseObject({ symbol, ...byEitherId }),
    response: orderReference,
    answer: cancelSpotOrder,
  }),
  spotTickers: undocumented({
    ...publicColumns,
    path: '/api/v2/spot/market/tickers',
    request: z.looseObject({ symbol: z.union([symbol, z.literal('')]).optional() }),
    response: z.array(textRow('symbol')),
    answer: spotTickers,
  }),
  spotAssets: undocumented({
    ...readColumns,
    path: '/api/v2/spot/account/assets',
    request: z.looseObject({
      coin: z.string().optional(),
      assetType: z.enum(['hold_only', 'all']).optional().describe('Default: coins that are held'),
    }),
    response: z.array(textRow('coin')),
    answer: spotAssetRows,
  }),
  spotUnfilledOrders: undocumented({
    ...readColumns,
    path: '/api/v2/spot/trade/unfilled-orders',
    limit: { calls: 20, perMs: 1000, scope: 'uid' },
    request: z.looseObject({
      symbol: symbol.optional(),
      idLessThan: exchangeId.optional(),
      startTime: z.string().optional(),
      endTime: z.string().optional(),
      limit: z.string().optional(),
      orderId: exchangeId.optional(),
      tpslType: z.enum(['normal', 'tpsl']).optional(),
    }),
    response: z.array(textRow('orderId', 'symbol')),
    answer: spotUnfilled,
  }),
}

/** Spot pairs show the prices of the contract of the same name, as the spot service trades at them. */
function spotTickers(state: SpotState, _: unknown, request: WireRequestOf<'spotSymbols'>) {
  const pairs = spotSymbolRows(state, _, request)
  if (!pairs.ok) return pairs
  return accept(
    pairs.data.flatMap(({ symbol: pair }) => {
      const shown = state.ports.ticker(pair)
      if (shown === undefined) return []
      const { open24h: open, high24h, low24h, openUtc, lastPr, bidPr, askPr, bidSz, askSz, ts } = shown
      const { baseVolume, quoteVolume, usdtVolume, change24h, changeUtc24h } = shown
      const prices = { open, high24h, low24h, lastPr, bidPr, askPr, bidSz, askSz, openUtc }
      return [{ symbol: pair, ...prices, baseVolume, quoteVolume, usdtVolume, change24h, changeUtc24h, ts }]
    }),
  )
}

import { z } from 'zod'
import { exchangeId, orderReference, symbol } from '../../protocol/values.ts'
import { accept } from '../shared/reply.ts'
import { COINS, type Coin } from '../spot/coins.ts'
import { placeRequest, placeSpotOrder } from '../spot/place-spot-order.ts'
import { spotAssetRows, spotSymbolRows, spotUnfilled } from '../spot/spot-queries.ts'
import type { SpotState } from '../spot/spot-state.ts'
import { cancelSpotOrder } from '../spot/spot.ts'
import {
  byEitherId,
  change,
  place,
  read,
  readPublic,
  span,
  textRow,
  type RowRequest,
} from './undocumented-row.ts'

const tickersOf = { symbol: symbol.optional() }

export const spotRows = {
  spotPlaceOrder: place('/spot/trade/place-order', {
    asks: placeRequest.shape,
    shows: orderReference,
    answer: placeSpotOrder,
  }),
  spotCancelOrder: change('/spot/trade/cancel-order', {
    asks: { symbol, ...byEitherId },
    shows: orderReference,
    answer: cancelSpotOrder,
  }),
  spotTickers: readPublic('/spot/market/tickers', {
    asks: tickersOf,
    shows: z.array(textRow('symbol')),
    answer: spotTickers,
  }),
  spotCoins: readPublic('/spot/public/coins', {
    calls: 3,
    asks: { coin: z.string().optional() },
    shows: z.array(
      z.looseObject({ coin: z.string(), chains: z.array(textRow('chain')).nullish() }),
    ),
    answer: (_state: SpotState, _account, { coin: asked }) =>
      accept(
        COINS.filter(({ coin }) => asked === undefined || coin === asked.toUpperCase()).map(toCoin),
      ),
  }),
  spotAssets: read('/spot/account/assets', {
    asks: {
      coin: z.string().optional(),
      assetType: z.enum(['hold_only', 'all']).optional().describe('Default: coins that are held'),
    },
    shows: z.array(textRow('coin')),
    answer: spotAssetRows,
  }),
  spotUnfilledOrders: read('/spot/trade/unfilled-orders', {
    calls: 20,
    asks: {
      symbol: symbol.optional(),
      idLessThan: exchangeId.optional(),
      ...span,
      orderId: exchangeId.optional(),
      tpslType: z.enum(['normal', 'tpsl']).optional(),
    },
    shows: z.array(textRow('orderId', 'symbol')),
    answer: spotUnfilled,
  }),
}

function spotTickers(state: SpotState, account: unknown, request: RowRequest<typeof tickersOf>) {
  const pairs = spotSymbolRows(state, account, request)
  if (!pairs.ok) return pairs
  return accept(
    pairs.data.flatMap(({ symbol: pair }) => {
      const shown = state.ports.ticker(pair)
      if (shown === undefined) return []
      const {
        open24h: open,
        high24h,
        low24h,
        openUtc,
        lastPr,
        bidPr,
        askPr,
        bidSz,
        askSz,
        ts,
      } = shown
      const { baseVolume, quoteVolume, usdtVolume, change24h, changeUtc24h } = shown
      const prices = { open, high24h, low24h, lastPr, bidPr, askPr, bidSz, askSz, openUtc }
      return [
        {
          symbol: pair,
          ...prices,
          baseVolume,
          quoteVolume,
          usdtVolume,
          change24h,
          changeUtc24h,
          ts,
        },
      ]
    }),
  )
}

const COIN_IDS: Readonly<Record<string, string>> = { BTC: '1', USDT: '2', ETH: '3' }

/** From the real list of coins; the spot service does not use it. */
const ETHEREUM = {
  depositConfirm: '12',
  withdrawConfirm: '64',
  minDepositAmount: '0.0001',
  browserUrl: 'https://etherscan.io/tx/',
  contractAddress: null,
}

const CHAIN_FACTS: Readonly<Record<string, object>> = {
  'USDT TRC20': {
    depositConfirm: '1',
    withdrawConfirm: '1',
    minDepositAmount: '0.01',
    browserUrl: 'https://tronscan.org/#/transaction/',
    contractAddress: 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t',
  },
  'USDT ERC20': {
    ...ETHEREUM,
    minDepositAmount: '0.01',
    contractAddress: '0xdac17f958d2ee523a2206206994597c13d831ec7',
  },
  'BTC BTC': {
    depositConfirm: '1',
    withdrawConfirm: '1',
    minDepositAmount: '0.00001',
    browserUrl: 'https://www.blockchain.com/explorer/transactions/btc/',
    contractAddress: null,
  },
}

function toCoin({ coin, chains }: Coin, index: number) {
  return {
    coinId: COIN_IDS[coin] ?? String(1000 + index),
    coin,
    transfer: 'true',
    chains: chains.map(({ chain, withdrawFee, minWithdrawAmount, withdrawMinScale }) => ({
      chain,
      needTag: 'false',
      withdrawable: 'true',
      rechargeable: 'true',
      withdrawFee,
      extraWithdrawFee: '0',
      minWithdrawAmount,
      withdrawMinScale: String(withdrawMinScale),
      withdrawStep: '0',
      congestion: 'normal',
      ...(CHAIN_FACTS[`${coin} ${chain}`] ?? ETHEREUM),
    })),
  }
}

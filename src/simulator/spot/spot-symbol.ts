import { decimal, type Decimal } from '../../lib/decimal.ts'
import type { ResponseOf } from '../../protocol/endpoints.ts'
import type { CoinPair } from '../services/pair-market.ts'
import type { FeeRates } from '../wallet/fees.ts'

export interface SpotSymbolRow extends Readonly<
  Record<keyof ResponseOf<'spotSymbols'>[number], string>
> {
  readonly status: 'offline' | 'gray' | 'online' | 'halt'
  readonly areaSymbol: 'yes' | 'no'
}

export interface SpotSymbol extends CoinPair {
  readonly row: SpotSymbolRow
  readonly feeRates: FeeRates
  readonly quoteDecimals: number
  readonly buyPriceRatioMax: Decimal
  readonly sellPriceRatioMin: Decimal
  readonly openOrdersMax: number
}

/** The real list of pairs, except for the coins' names. */
const COMMON = {
  quoteCoin: 'USDT',
  minTradeAmount: '0',
  maxTradeAmount: '10000000000',
  takerFeeRate: '0.002',
  makerFeeRate: '0.002',
  pricePrecision: '2',
  quotePrecision: '6',
  minTradeUSDT: '1',
  status: 'online',
  buyLimitPriceRatio: '0.05',
  sellLimitPriceRatio: '0.05',
  orderQuantity: '200',
  areaSymbol: 'no',
} as const satisfies Partial<SpotSymbolRow>

export const SPOT_SYMBOLS: readonly SpotSymbolRow[] = [
  { symbol: 'BTCUSDT', baseCoin: 'BTC', ...COMMON, quantityPrecision: '6' },
  { symbol: 'ETHUSDT', baseCoin: 'ETH', ...COMMON, quantityPrecision: '4' },
  // Pairs in other statuses are listed without quotes, and take no order.
  { symbol: 'SOLUSDT', baseCoin: 'SOL', ...COMMON, quantityPrecision: '4', status: 'gray' },
  { symbol: 'LTCUSDT', baseCoin: 'LTC', ...COMMON, quantityPrecision: '4', status: 'halt' },
  { symbol: 'ADAUSDT', baseCoin: 'ADA', ...COMMON, quantityPrecision: '2', status: 'offline' },
]

export function readSpotSymbol(row: SpotSymbolRow): SpotSymbol {
  const one = decimal('1')
  const { symbol, baseCoin, quoteCoin } = row
  return {
    row,
    symbol,
    baseCoin,
    quoteCoin,
    feeRates: {
      taker: decimal(row.takerFeeRate),
      maker: decimal(row.makerFeeRate),
    },
    priceDecimals: Number(row.pricePrecision),
    sizeDecimals: Number(row.quantityPrecision),
    quoteDecimals: Number(row.quotePrecision),
    buyPriceRatioMax: one.plus(row.buyLimitPriceRatio),
    sellPriceRatioMin: one.minus(row.sellLimitPriceRatio),
    openOrdersMax: Number(row.orderQuantity),
  }
}

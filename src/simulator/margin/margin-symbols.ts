import { decimal, type Decimal } from '../../lib/decimal.ts'
import type { CoinPair } from '../services/pair-market.ts'

export interface MarginSymbol extends CoinPair {
  readonly baseMin: Decimal
  readonly notionalMin: Decimal
  readonly feeRate: Decimal
  readonly isolatedLeverageMax: Decimal
  readonly crossedLeverageMax: Decimal
}

export interface BorrowableCoin {
  readonly coin: string
  readonly borrowMax: Decimal
  readonly hourlyInterestRate: Decimal
}

/** The first is the vendor's listing of the pair, the second its documentation sample. */
export const MARGIN_SYMBOLS: readonly MarginSymbol[] = [
  buildSymbol({
    symbol: 'BTCUSDT',
    baseCoin: 'BTC',
    priceDecimals: 2,
    sizeDecimals: 6,
    notionalMin: '1',
  }),
  buildSymbol({
    symbol: 'ETHUSDT',
    baseCoin: 'ETH',
    priceDecimals: 4,
    sizeDecimals: 4,
    notionalMin: '5',
  }),
]

/** The rates are ours, 4 % to 9 % a year, because the document gives none. */
export const BORROWABLE_COINS: ReadonlyMap<string, BorrowableCoin> = new Map(
  [
    { coin: 'USDT', borrowMax: '2000000', hourlyInterestRate: '0.00001' },
    { coin: 'BTC', borrowMax: '30', hourlyInterestRate: '0.000005' },
    { coin: 'ETH', borrowMax: '700', hourlyInterestRate: '0.000005' },
  ].map(({ coin, borrowMax, hourlyInterestRate }) => [
    coin,
    { coin, borrowMax: decimal(borrowMax), hourlyInterestRate: decimal(hourlyInterestRate) },
  ]),
)

function buildSymbol(
  row: Pick<MarginSymbol, 'symbol' | 'baseCoin' | 'priceDecimals' | 'sizeDecimals'> & {
    notionalMin: string
  },
): MarginSymbol {
  return {
    ...row,
    quoteCoin: 'USDT',
    baseMin: decimal('0.0001'),
    notionalMin: decimal(row.notionalMin),
    feeRate: decimal('0.001'),
    isolatedLeverageMax: decimal('10'),
    crossedLeverageMax: decimal('3'),
  }
}

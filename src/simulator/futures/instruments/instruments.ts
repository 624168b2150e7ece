import { USUAL_FUNDING_MINUTES } from '../../market/fair-price.ts'
import type { MarketInstrument } from '../../market/market.ts'
import { decimal, type Decimal } from '../../../lib/decimal.ts'
import { createGrid, formatOnGrid, type Grid } from '../../../lib/grid.ts'
import type { WireProductType } from '../../../protocol/values.ts'

/** Positions up to a value of `notionalMax` (quote coin) need `rate` of it. */
export interface ContractTier {
  readonly notionalMax: number
  readonly rate: string
  readonly rateFloat: number
}

export interface ListedContract {
  readonly symbol: string
  readonly productType: WireProductType
  readonly baseCoin: string
  readonly quoteCoin: string
  readonly marginCoin: string
  /** Profit and fees are computed in the quote coin and converted at the fill price. */
  readonly isInverse: boolean
  readonly priceGrid: Grid
  readonly sizeGrid: Grid
  readonly lotsMin: number
  readonly limitLotsMax: number
  readonly marketLotsMax: number
  readonly notionalMin: string
  /** At 0.01 a buy may be 1 % above the mark price, a sell 1 % below it. */
  readonly priceLimitRatio: number
  readonly symbolOrdersMax: number
  readonly productOrdersMax: number
  readonly leverageMax: number
  readonly maintenanceTiers: readonly ContractTier[]
  readonly delivery: { readonly listedAt: number; readonly deliveryAt: number } | undefined
  readonly fundingMinutes: readonly number[]
  readonly startPrice: string
  readonly dailyTurnover: number
  readonly tickLotValue: Decimal
  readonly tickFloat: number
  readonly lotFloat: number
}

interface ContractRow
  extends
    Pick<ListedContract, 'symbol' | 'productType' | 'baseCoin' | 'quoteCoin'>,
    Readonly<typeof BTC> {
  readonly delivery?: ListedContract['delivery']
}

function maintenanceTiers(
  rows: readonly (readonly [notionalMax: number, rate: string])[],
): ContractTier[] {
  return rows.map(([notionalMax, rate]) => ({ notionalMax, rate, rateFloat: Number(rate) }))
}

/** The sizes of BTC are those of the vendor's contract sample; those of ETH are in proportion. */
const BTC = {
  tickSize: '0.1',
  lotSize: '0.001',
  leverageMax: 125,
  limitLotsMax: 1_200_000,
  marketLotsMax: 220_000,
  startPrice: '65000',
  dailyTurnover: 2e9,
  maintenanceTiers: maintenanceTiers([
    [1_000_000, '0.004'],
    [5_000_000, '0.005'],
    [20_000_000, '0.01'],
    [Number.POSITIVE_INFINITY, '0.025'],
  ]),
}
const ETH = {
  ...BTC,
  tickSize: '0.01',
  lotSize: '0.01',
  leverageMax: 100,
  startPrice: '2600',
  dailyTurnover: 1e9,
  maintenanceTiers: maintenanceTiers([
    [500_000, '0.005'],
    [2_500_000, '0.0075'],
    [10_000_000, '0.0125'],
    [Number.POSITIVE_INFINITY, '0.03'],
  ]),
}

const PERPETUALS: readonly ContractRow[] = [
  { symbol: 'BTCUSDT', productType: 'USDT-FUTURES', baseCoin: 'BTC', quoteCoin: 'USDT', ...BTC },
  { symbol: 'ETHUSDT', productType: 'USDT-FUTURES', baseCoin: 'ETH', quoteCoin: 'USDT', ...ETH },
  { symbol: 'BTCUSD', productType: 'COIN-FUTURES', baseCoin: 'BTC', quoteCoin: 'USD', ...BTC },
  { symbol: 'BTCPERP', productType: 'USDC-FUTURES', baseCoin: 'BTC', quoteCoin: 'USDC', ...BTC },
  {
    symbol: 'SBTCSUSDT',
    productType: 'SUSDT-FUTURES',
    baseCoin: 'SBTC',
    quoteCoin: 'SUSDT',
    ...BTC,
  },
  { symbol: 'SBTCSUSD', productType: 'SCOIN-FUTURES', baseCoin: 'SBTC', quoteCoin: 'SUSD', ...BTC },
  {
    symbol: 'SBTCSPERP',
    productType: 'SUSDC-FUTURES',
    baseCoin: 'SBTC',
    quoteCoin: 'SUSDC',
    ...BTC,
  },
]

export function buildInstruments(...deliveries: readonly number[]): readonly ListedContract[] {
  const rows = deliveries.map((deliveryAt, index) => deliveryRow(deliveryAt, deliveries[index - 1]))
  return [...PERPETUALS, ...rows].map(buildInstrument)
}

/**
 * Includes the last one, which is still unsettled if the simulator was stopped, and those of the
 * coming year.
 */
export function quarterlyDeliveries(now: number): readonly number[] {
  const first = nextQuarterlyDelivery(now - QUARTER_MS)
  const deliveries = [first]
  for (let at = first; deliveries.length < CALENDAR_DELIVERIES; deliveries.push(at))
    at = nextQuarterlyDelivery(at)
  return deliveries
}

export function nextQuarterlyDelivery(now: number): number {
  const start = new Date(now)
  const firstQuarter = Math.floor(start.getUTCMonth() / 3)
  for (let quarter = firstQuarter; quarter <= firstQuarter + 2; quarter++) {
    const lastDay = new Date(Date.UTC(start.getUTCFullYear(), quarter * 3 + 3, 0, 8))
    const deliveryAt = lastDay.getTime() - ((lastDay.getUTCDay() + 2) % 7) * DAY_MS
    if (deliveryAt > now) return deliveryAt
  }
  throw new RangeError(`no delivery date after ${start.toISOString()}`)
}

export function priceText(instrument: ListedContract, ticks: number): string {
  return formatOnGrid(instrument.priceGrid, ticks)
}

export function sizeText(instrument: ListedContract, lots: number): string {
  return formatOnGrid(instrument.sizeGrid, lots)
}

export function toMarketInstrument(instrument: ListedContract): MarketInstrument {
  const { symbol, startPrice, dailyTurnover, fundingMinutes } = instrument
  return {
    symbol,
    startPrice,
    dailyTurnover,
    fundingMinutes,
    tickSize: instrument.priceGrid.step,
    lotSize: instrument.sizeGrid.step,
  }
}

const DAY_MS = 86_400_000
const LISTED_BEFORE_MS = 182 * DAY_MS
const QUARTER_MS = 98 * DAY_MS
const CALENDAR_DELIVERIES = 6

function deliveryRow(deliveryAt: number, listedAt = deliveryAt - LISTED_BEFORE_MS): ContractRow {
  const date = new Date(deliveryAt).toISOString()
  return {
    symbol: `BTCUSD_${date.slice(2, 4)}${date.slice(5, 7)}${date.slice(8, 10)}`,
    productType: 'COIN-FUTURES',
    baseCoin: 'BTC',
    quoteCoin: 'USD',
    delivery: { listedAt, deliveryAt },
    ...BTC,
  }
}

function buildInstrument(row: ContractRow): ListedContract {
  const isInverse = row.productType === 'COIN-FUTURES' || row.productType === 'SCOIN-FUTURES'
  const { tickSize, lotSize, ...columns } = row
  return {
    ...columns,
    isInverse,
    marginCoin: isInverse ? row.baseCoin : row.quoteCoin,
    priceGrid: createGrid(tickSize),
    sizeGrid: createGrid(lotSize),
    lotsMin: 1,
    notionalMin: '5',
    priceLimitRatio: 0.01,
    symbolOrdersMax: 200,
    productOrdersMax: 400,
    delivery: row.delivery,
    fundingMinutes: USUAL_FUNDING_MINUTES,
    tickLotValue: decimal(tickSize).times(decimal(lotSize)),
    tickFloat: Number(tickSize),
    lotFloat: Number(lotSize),
  }
}

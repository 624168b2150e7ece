import { decimal, type Decimal } from '../../lib/decimal.ts'
import { CONVERT_PAGE_MAX } from '../../protocol/convert/convert-records.ts'
import { type WireRequestOf, type WireResponseOf } from '../../protocol/endpoints.ts'
import { type AccountRef } from '../shared/account.ts'
import { accept, refuse, type Reply } from '../shared/reply.ts'
import { type Handlers } from '../shared/handlers.ts'
import { type ServicePorts } from '../services/service-ports.ts'
import { spotRefusals } from '../spot/spot-refusals.ts'
import { Histories } from '../shared/histories.ts'
import { type CoinRef } from '../wallet/coin-money.ts'
import { HISTORY_DAYS, HISTORY_MS, historyPage, historySpan } from '../shared/history-page.ts'
import { serviceIdText } from '../shared/order-sequence.ts'
import { platformCoinPrice } from '../wallet/platform-coin.ts'
import { decimalsOf, roundDown, roundUp } from '../wallet/rounding.ts'
import { lastPrice } from '../services/start-prices.ts'
import { toWireRecord, type ConvertRecord } from './convert-record.ts'
import { defaultConvertSettings, type ConvertSettings } from './convert-settings.ts'

/** What a conversion is asked for. */
export interface ConvertRequest {
  readonly fromCoin: string
  readonly amount: string
}

/** Document: "limit (optional, default 20, max 100)". */
const LIMIT_BY_DEFAULT = 20

/** Amounts and prices have eight decimals, as in the vendor's sample. */
const DECIMALS = 8
export const CONVERTED_COINS = ['BTC', 'ETH', 'USDT'] as const

/** Conversions of small spot balances into the platform's own coin. */
export interface ConvertState {
  readonly ports: ServicePorts
  readonly settings: ConvertSettings
  /** Of each account at most `recordsMax`. */
  readonly records: Histories<ConvertRecord>
}

export function openConvert(ports: ServicePorts, settings: Partial<ConvertSettings> = {}): ConvertState {
  const complete = { ...defaultConvertSettings, ...settings }
  const records = new Histories<ConvertRecord>(ports.rows, {
    codec: { table: 'conversions', id: ({ orderId }) => orderId },
    max: complete.recordsMax,
    ownerOf: ({ uid }) => uid,
  })
  return { ports, settings: complete, records }
}

export function convertLedger({ records }: ConvertState, uid: string): { readonly conversions: number } {
  return { conversions: records.of(uid).length }
}

export const convertHandlers = { convertRecords } satisfies Handlers<ConvertState>

/** Document: GET /api/v2/convert/{platform_coin}-convert-records. */
function convertRecords(
  state: ConvertState,
  { uid }: AccountRef,
  query: WireRequestOf<'convertRecords'>,
): Reply<WireResponseOf<'convertRecords'>> {
  const { now } = state.ports.clock
  const span = Number(query.endTime || now) - Number(query.startTime || query.endTime || now)
  if (query.startTime && span < 0) return refuse(spotRefusals.startAfterEnd())
  if (query.startTime && query.endTime && span > HISTORY_MS) {
    return refuse(spotRefusals.spanTooLong(HISTORY_DAYS))
  }
  const page = historyPage(state.records.of(uid), {
    ...historySpan(query, now),
    idOf: ({ orderId }) => orderId,
    timeOf: ({ createdAt }) => createdAt,
    idLessThan: query.idLessThan,
    limit: Math.min(Number(query.limit ?? LIMIT_BY_DEFAULT), CONVERT_PAGE_MAX),
    accepts: ({ orderId }) => query.orderId === undefined || orderId === query.orderId,
  })
  return accept(page.map(toWireRecord))
}

/** Makes a conversion: the document only lists them, so something must make them first. */
export function convert(
  state: ConvertState,
  { uid }: AccountRef,
  { fromCoin, amount }: ConvertRequest,
): Reply<{ orderId: string }> {
  const { ports, settings } = state
  if (!CONVERTED_COINS.some((coin) => coin === fromCoin))
    return refuse(spotRefusals.conversionUnsupported(fromCoin))
  if (decimalsOf(amount) > DECIMALS) return refuse(spotRefusals.scale('amount', amount, DECIMALS))
  const price = decimal(fromCoin === 'USDT' ? '1' : lastPrice(ports, `${fromCoin}USDT`))
  const from = decimal(amount)
  if (from.times(price).lt(settings.worthMin)) return refuse(spotRefusals.conversionTooSmall())
  if (ports.wallet.coin(balance(uid, fromCoin)).available.lt(from)) return refuse(spotRefusals.balance())
  return accept(bookConversion(state, uid, { fromCoin, from, price, at: ports.clock.now }))
}

/** Books both sides against the platform, the fee out of what was received. */
export function bookConversion(
  state: ConvertState,
  uid: string,
  { fromCoin, from, price, at }: Conversion,
): { orderId: string } {
  const { ports, settings } = state
  const { platformCoin, feeRate } = settings
  const toPrice = decimal(platformCoinPrice(platformCoin, ports.seed, at))
  const to = roundDown(from.times(price).div(toPrice), DECIMALS)
  const fee = roundUp(to.times(feeRate), DECIMALS)
  ports.wallet.book(balance(uid, fromCoin), 'conversion', from.times('-1'))
  ports.wallet.book(balance(uid, platformCoin.name), 'conversion', to)
  ports.wallet.book(balance(uid, platformCoin.name), 'fee', fee.times('-1'))
  const orderId = serviceIdText(ports.sequence.next())
  state.records.add({
    orderId,
    uid,
    fromCoin,
    fromAmount: from.toFixed(DECIMALS),
    fromCoinPrice: price.toFixed(DECIMALS),
    toCoin: platformCoin.name,
    toAmount: to.toFixed(DECIMALS),
    toCoinPrice: toPrice.toFixed(DECIMALS),
    fee: fee.toFixed(DECIMALS),
    createdAt: at,
  })
  return { orderId }
}

interface Conversion {
  readonly fromCoin: string
  readonly from: Decimal
  /** Of the source coin, in USDT. */
  readonly price: Decimal
  /** Unix ms. */
  readonly at: number
}

function balance(uid: string, coin: string): CoinRef {
  return { uid, balance: 'spot', coin }
}

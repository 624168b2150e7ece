import { decimal, type Decimal } from '../../lib/decimal.ts'
import { CONVERT_PAGE_MAX } from '../../protocol/convert/convert-records.ts'
import type { WireRequestOf, WireResponseOf } from '../../protocol/endpoints.ts'
import type { ServicePorts } from '../services/service-ports.ts'
import type { AccountRef } from '../shared/account.ts'
import type { Handlers } from '../shared/handlers.ts'
import { Histories } from '../shared/histories.ts'
import { lastNinetyDays, readHistory } from '../shared/history-page.ts'
import { serviceIdText } from '../shared/order-sequence.ts'
import { accept, type Reply } from '../shared/reply.ts'
import { refusals } from '../shared/refusals.ts'
import { spotBalance } from '../wallet/coin-money.ts'
import { defaultPlatformCoin, platformCoinPrice } from '../wallet/platform-coin.ts'
import { wholeFee } from '../wallet/fees.ts'
import { negated, roundDown } from '../wallet/rounding.ts'

export type ConvertSettings = Readonly<typeof defaultConvertSettings>

export const defaultConvertSettings = {
  platformCoin: defaultPlatformCoin,
  feeRate: '0.02',
  recordsMax: 10_000,
}

/** Amounts and prices are decimal strings; prices are in USDT, the fee is in the target coin. */
export interface ConvertRecord {
  readonly orderId: string
  readonly uid: string
  readonly fromCoin: string
  readonly fromAmount: string
  readonly fromCoinPrice: string
  readonly toCoin: string
  readonly toAmount: string
  readonly toCoinPrice: string
  readonly fee: string
  readonly createdAt: number
}

/** The document's table has `ts`, its sample `ctime`. */
function toWireRecord({ uid: _uid, fee, createdAt, ...record }: ConvertRecord) {
  return {
    ...record,
    feeDetail: [{ feeCoin: record.toCoin, fee }],
    status: 'success',
    ctime: String(createdAt),
  }
}

/** Document: "limit (optional, default 20, max 100)". */
const LIMIT_BY_DEFAULT = 20
/** Document: "maximum interval 90 days". */
const SPAN_DAYS_MAX = 90

const DECIMALS = 8
export const CONVERTED_COINS = ['BTC', 'ETH', 'USDT'] as const

export interface ConvertState {
  readonly ports: ServicePorts
  readonly settings: ConvertSettings
  readonly records: Histories<ConvertRecord>
}

export function openConvert(
  ports: ServicePorts,
  settings: Partial<ConvertSettings> = {},
): ConvertState {
  const complete = { ...defaultConvertSettings, ...settings }
  const records = new Histories<ConvertRecord>(ports.rows, {
    codec: { table: 'conversions', id: ({ orderId }) => orderId },
    max: complete.recordsMax,
    ownerOf: ({ uid }) => uid,
  })
  return { ports, settings: complete, records }
}

export function convertLedger(
  { records }: ConvertState,
  uid: string,
): { readonly conversions: number } {
  return { conversions: records.of(uid).length }
}

export const convertHandlers = { convertRecords } satisfies Handlers<ConvertState>

function convertRecords(
  state: ConvertState,
  { uid }: AccountRef,
  query: WireRequestOf<'convertRecords'>,
): Reply<WireResponseOf<'convertRecords'>> {
  const { now } = state.ports.clock
  const { startTime, endTime, orderId: asked } = query
  if (startTime && !endTime && Number(startTime) > now) return refusals.startAfterEnd
  const page = readHistory(state.records.of(uid), query, {
    limitUsual: LIMIT_BY_DEFAULT,
    limitMax: CONVERT_PAGE_MAX,
    refusesDisorder: true,
    span: lastNinetyDays,
    // Without `endTime`, a start that is too early is moved and not refused.
    ...(endTime && { daysMax: SPAN_DAYS_MAX }),
    now,
    idOf: ({ orderId }) => orderId,
    timeOf: ({ createdAt }) => createdAt,
    accepts: ({ orderId }) => asked === undefined || orderId === asked,
  })
  return page.ok ? accept(page.data.map(toWireRecord)) : page
}

export function bookConversion(
  { ports, settings, records }: ConvertState,
  uid: string,
  { fromCoin, from, price, at }: ConversionTerms,
): void {
  const { platformCoin, feeRate } = settings
  const toPrice = decimal(platformCoinPrice(platformCoin, ports.seed, at))
  const to = roundDown(from.times(price).div(toPrice), DECIMALS)
  const fee = wholeFee(to, decimal(feeRate))
  const target = spotBalance(uid, platformCoin.name)
  ports.wallet.book(spotBalance(uid, fromCoin), 'conversion', negated(from))
  ports.wallet.book(target, 'conversion', to)
  ports.wallet.book(target, 'fee', negated(fee))
  records.add({
    orderId: serviceIdText(ports.sequence.next()),
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
}

interface ConversionTerms {
  readonly fromCoin: string
  readonly from: Decimal
  readonly price: Decimal
  readonly at: number
}

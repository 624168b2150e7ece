import { decimal, type Decimal } from '../../lib/decimal.ts'
import { Failure } from '../../lib/failure.ts'
import { CONVERT_PAGE_MAX } from '../../protocol/convert/convert-records.ts'
import { type WireRequestOf, type WireResponseOf } from '../../protocol/endpoints.ts'
import { type AccountRef } from '../core/account.ts'
import { accept, refuse, type Reply } from '../core/reply.ts'
import { type AccountService, type ServicePorts } from '../account-service.ts'
import { spotRefusals } from '../spot/spot-refusals.ts'
import { type Codec } from '../store/stored-rows.ts'
import { type CoinRef } from '../wallet/coin-money.ts'
import { HISTORY_DAYS, HISTORY_MS, historyPage } from '../wallet/history-page.ts'
import { serviceIdText } from '../wallet/order-sequence.ts'
import { platformCoinPrice } from '../wallet/platform-coin.ts'
import { decimalsOf, roundDown, roundUp } from '../wallet/rounding.ts'
import { lastPrice } from '../wallet/start-prices.ts'
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

const CONVERSIONS: Codec<ConvertRecord> = { table: 'conversions', id: ({ orderId }) => orderId }

/** Conversions of small spot balances into the platform's own coin. Created after the spot service. */
export class ConvertService implements AccountService {
  readonly #ports: ServicePorts
  readonly #settings: ConvertSettings
  /** By uid, oldest first; at most `recordsMax` each. */
  readonly #records = new Map<string, ConvertRecord[]>()
  #now: number

  constructor(ports: ServicePorts, settings: Partial<ConvertSettings> = {}) {
    this.#ports = ports
    this.#settings = { ...defaultConvertSettings, ...settings }
    this.#now = ports.startAt
    for (const { uid } of ports.accounts) this.#records.set(uid, [])
    for (const record of ports.rows.read(CONVERSIONS)) this.#records.get(record.uid)?.push(record)
  }

  ledger(uid: string): { readonly conversions: number } {
    return { conversions: this.#recordsOf(uid).length }
  }

  /** Document: GET /api/v2/convert/{platform_coin}-convert-records. */
  convertRecords(
    { uid }: AccountRef,
    query: WireRequestOf<'convertRecords'>,
    now: number,
  ): Reply<WireResponseOf<'convertRecords'>> {
    this.#now = Math.max(this.#now, now)
    const span = Number(query.endTime || this.#now) - Number(query.startTime || query.endTime || this.#now)
    if (query.startTime && span < 0) return refuse(spotRefusals.spanReversed())
    if (query.startTime && query.endTime && span > HISTORY_MS) {
      return refuse(spotRefusals.spanTooLong(HISTORY_DAYS))
    }
    const page = historyPage(this.#recordsOf(uid), {
      query,
      limitByDefault: LIMIT_BY_DEFAULT,
      limitMax: CONVERT_PAGE_MAX,
      now: this.#now,
    })
    return accept(page.map(toWireRecord))
  }

  /** Makes a conversion: the document only lists them, so something must make them first. */
  convert(
    { uid }: AccountRef,
    { fromCoin, amount }: ConvertRequest,
    now: number,
  ): Reply<{ orderId: string }> {
    this.#now = Math.max(this.#now, now)
    this.#recordsOf(uid)
    if (!CONVERTED_COINS.some((coin) => coin === fromCoin))
      return refuse(spotRefusals.conversionUnsupported(fromCoin))
    if (decimalsOf(amount) > DECIMALS) return refuse(spotRefusals.scale('amount', amount, DECIMALS))
    const price = decimal(fromCoin === 'USDT' ? '1' : lastPrice(this.#ports, `${fromCoin}USDT`))
    const from = decimal(amount)
    if (from.times(price).lt(this.#settings.worthMin)) return refuse(spotRefusals.conversionTooSmall())
    const { available } = this.#ports.wallet.coin(balance(uid, fromCoin))
    if (available.lt(from)) return refuse(spotRefusals.balance())
    return accept(this.book(uid, { fromCoin, from, price, at: this.#now }))
  }

  /** Books both sides against the platform, the fee out of what was received. */
  book(uid: string, { fromCoin, from, price, at }: Conversion): { orderId: string } {
    const { platformCoin, feeRate } = this.#settings
    const toPrice = decimal(platformCoinPrice(platformCoin, this.#ports.seed, at))
    const to = roundDown(from.times(price).div(toPrice), DECIMALS)
    const fee = roundUp(to.times(feeRate), DECIMALS)
    const { wallet } = this.#ports
    wallet.book(balance(uid, fromCoin), 'conversion', from.times('-1'))
    wallet.book(balance(uid, platformCoin.name), 'conversion', to)
    wallet.book(balance(uid, platformCoin.name), 'fee', fee.times('-1'))
    const record: ConvertRecord = {
      orderId: serviceIdText(this.#ports.sequence.next()),
      uid,
      fromCoin,
      fromAmount: from.toFixed(DECIMALS),
      fromCoinPrice: price.toFixed(DECIMALS),
      toCoin: platformCoin.name,
      toAmount: to.toFixed(DECIMALS),
      toCoinPrice: toPrice.toFixed(DECIMALS),
      fee: fee.toFixed(DECIMALS),
      createdAt: at,
    }
    this.#keep(record)
    return { orderId: record.orderId }
  }

  #keep(record: ConvertRecord): void {
    const records = this.#recordsOf(record.uid)
    records.push(record)
    this.#ports.rows.put(CONVERSIONS, record)
    const oldest = records.length > this.#settings.recordsMax ? records.shift() : undefined
    if (oldest !== undefined) this.#ports.rows.drop(CONVERSIONS, oldest)
  }

  #recordsOf(uid: string): ConvertRecord[] {
    const records = this.#records.get(uid)
    if (records !== undefined) return records
    throw new Failure({
      code: 'SIMULATOR_ACCOUNT_UNKNOWN',
      sentence: 'the conversion service of the simulated exchange has no such account',
      facts: { uid },
      hint: 'name the account in the simulator configuration',
    })
  }
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

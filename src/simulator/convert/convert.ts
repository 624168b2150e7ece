import { decimal, type Decimal } from '../../lib/decimal.ts'
import { Failure } from '../../lib/failure.ts'
import { createRandom } from '../../lib/random.ts'
import { CONVERT_PAGE_MAX } from '../../protocol/convert/convert-records.ts'
import { type WireRequestOf, type WireResponseOf } from '../../protocol/endpoints.ts'
import { type AccountRef } from '../core/account.ts'
import { accept, refuse, type Reply } from '../core/reply.ts'
import { type Handlers } from '../handlers.ts'
import { type ServicePorts } from '../service-ports.ts'
import { spotRefusals } from '../spot/spot-refusals.ts'
import { type CoinRef } from '../wallet/coin-money.ts'
import { HISTORY_DAYS, HISTORY_MS, historyPage, historySpan } from '../history-page.ts'
import { serviceIdText } from '../wallet/order-sequence.ts'
import { pastPrices, pastTimes } from '../wallet/past-prices.ts'
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
const SOURCES = ['BTC', 'ETH', 'USDT'] as const
const PAST_DAYS = 88

const RECORD_ROWS = 'convert/record/'
const OPENED_ROWS = 'convert/opened/'

/** Conversions of small spot balances into the platform's own coin. */
export interface ConvertState {
  readonly ports: ServicePorts
  readonly settings: ConvertSettings
  /** By uid, oldest first; at most `recordsMax` each. */
  readonly records: ReadonlyMap<string, ConvertRecord[]>
}

/** After the spot balances have their opening, of which the past spends. */
export function openConvert(ports: ServicePorts, settings: Partial<ConvertSettings> = {}): ConvertState {
  const records = new Map<string, ConvertRecord[]>(ports.accounts.map(({ uid }) => [uid, []]))
  for (const { json } of ports.store.rows(RECORD_ROWS)) {
    const record = JSON.parse(json) as ConvertRecord
    records.get(record.uid)?.push(record)
  }
  const state = { ports, settings: { ...defaultConvertSettings, ...settings }, records }
  for (const uid of records.keys()) {
    if (ports.store.rows(OPENED_ROWS + uid).some(({ id }) => id === OPENED_ROWS + uid)) continue
    writePast(state, uid)
    ports.store.put(OPENED_ROWS + uid, 'true')
  }
  return state
}

export function convertLedger(state: ConvertState, uid: string): { readonly conversions: number } {
  return { conversions: recordsOf(state, uid).length }
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
  const page = historyPage(recordsOf(state, uid), {
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
  recordsOf(state, uid)
  if (!SOURCES.some((coin) => coin === fromCoin)) return refuse(spotRefusals.conversionUnsupported(fromCoin))
  if (decimalsOf(amount) > DECIMALS) return refuse(spotRefusals.scale('amount', amount, DECIMALS))
  const price = decimal(fromCoin === 'USDT' ? '1' : lastPrice(ports, `${fromCoin}USDT`))
  const from = decimal(amount)
  if (from.times(price).lt(settings.worthMin)) return refuse(spotRefusals.conversionTooSmall())
  if (ports.wallet.coin(balance(uid, fromCoin)).available.lt(from)) return refuse(spotRefusals.balance())
  return accept(book(state, uid, { fromCoin, from, price, at: ports.clock.now }))
}

/** Both sides against the platform, the fee out of what was received. */
function book(
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
  const record: ConvertRecord = {
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
  }
  keep(state, record)
  return { orderId: record.orderId }
}

function keep(state: ConvertState, record: ConvertRecord): void {
  const { ports, settings } = state
  const records = recordsOf(state, record.uid)
  records.push(record)
  ports.store.put(RECORD_ROWS + record.orderId, JSON.stringify(record))
  const oldest = records.length > settings.recordsMax ? records.shift() : undefined
  if (oldest !== undefined) ports.store.drop(RECORD_ROWS + oldest.orderId)
}

/** Leftovers worth a few USDT, converted now and then before the exchange was started. */
function writePast(state: ConvertState, uid: string): void {
  const { seed, startAt: endAt, wallet } = state.ports
  const stem = `${seed}/convert-past/${uid}`
  const count = state.settings.pastConversions
  const times = pastTimes(`${stem}/times`, { count, days: PAST_DAYS, endAt })
  const random = createRandom(stem)
  const prices = SOURCES.map((coin) => {
    if (coin === 'USDT') return times.map(() => 1)
    const last = Number(lastPrice(state.ports, `${coin}USDT`))
    return pastPrices(times, { seed: `${seed}/convert-past/${coin}`, last, endAt })
  })
  for (const [index, at] of times.entries()) {
    const source = random.integer(SOURCES.length)
    const fromCoin = SOURCES[source] ?? 'USDT'
    const price = decimal((prices[source]?.[index] ?? 1).toFixed(DECIMALS))
    const worth = decimal((1 + random.next() * 9).toFixed(DECIMALS))
    const from = roundUp(worth.div(price), DECIMALS)
    if (wallet.coin(balance(uid, fromCoin)).available.lt(from)) continue
    book(state, uid, { fromCoin, from, price, at })
  }
}

function recordsOf({ records }: ConvertState, uid: string): ConvertRecord[] {
  const found = records.get(uid)
  if (found !== undefined) return found
  throw new Failure({
    code: 'SIMULATOR_ACCOUNT_UNKNOWN',
    sentence: 'the conversion service of the simulated exchange has no such account',
    facts: { uid },
    hint: 'name the account in the simulator configuration',
  })
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

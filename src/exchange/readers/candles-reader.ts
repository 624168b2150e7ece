import type { Answer } from '../../domain/answer.ts'
import { type Granularity, GRANULARITIES } from '../../protocol/beyond/candles.ts'
import { SUCCESS_CODE } from '../../protocol/envelope.ts'
import type { CallableName, RequestOf, ResponseOf } from '../../protocol/endpoints.ts'
import type { ProductType } from '../../domain/instrument.ts'
import type { CallOptions } from '../client/request-writer.ts'
import { PRIORITY } from '../limiter/grant.ts'

/** Prices in quote coin, volume in base coin. */
export interface ExchangeCandle {
  readonly openAt: number
  readonly open: number
  readonly high: number
  readonly low: number
  readonly close: number
  readonly volume: number
}

export interface BeyondCaller {
  call<Name extends CallableName>(
    endpoint: Name,
    request: RequestOf<Name>,
    options?: CallOptions,
  ): Promise<Answer<ResponseOf<Name>>>
}

export interface CandlesQuery {
  readonly endpoint: 'candles' | 'historyCandles'
  readonly productType: ProductType
  readonly symbol: string
  readonly granularity: Granularity
  readonly fromAt?: number
  /** Default: now. */
  readonly untilAt?: number
  readonly limit: number
}

const PRICE = /^\d{1,20}(\.\d{1,20})?$/

/**
 * Reads candles that open from `fromAt` to before `untilAt`, the oldest first, at background
 * priority. The exchange may include the ends of the span or not, so rows beyond are dropped.
 */
export async function readCandles(
  caller: BeyondCaller,
  query: CandlesQuery,
): Promise<Answer<readonly ExchangeCandle[]>> {
  const { endpoint, productType, symbol, granularity, limit } = query
  const { fromAt = 0, untilAt = Number.POSITIVE_INFINITY } = query
  const request = {
    symbol,
    productType,
    granularity,
    ...(query.fromAt !== undefined && { startTime: String(query.fromAt) }),
    ...(query.untilAt !== undefined && { endTime: String(query.untilAt) }),
    limit: String(limit),
  }
  const answer = await caller.call(endpoint, request, { priority: PRIORITY.background })
  if (answer.kind !== 'accepted') return answer
  const candles = new Map<number, ExchangeCandle>()
  for (const row of answer.data) {
    const candle = toCandle(row)
    if (candle === undefined)
      return unreadableRow(answer, `${row.join(', ').slice(0, 100)} is no candle`)
    const { lengthMs, shiftMs } = GRANULARITIES[granularity]
    if ((candle.openAt - shiftMs) % lengthMs !== 0)
      return unreadableRow(answer, `no candle of ${granularity} opens at ${candle.openAt}`)
    if (candle.openAt >= fromAt && candle.openAt < untilAt) candles.set(candle.openAt, candle)
  }
  const data = [...candles.values()].toSorted((one, other) => one.openAt - other.openAt)
  return { ...answer, data }
}

function toCandle(row: readonly string[]): ExchangeCandle | undefined {
  const [at = '', ...texts] = row
  if (!/^\d{10,16}$/.test(at) || !texts.slice(0, 4).every((text) => PRICE.test(text))) {
    return undefined
  }
  const [open = 0, high = 0, low = 0, close = 0, volume = 0] = texts.map(Number)
  const isPossible = low > 0 && high >= Math.max(open, close) && low <= Math.min(open, close)
  if (!isPossible) return undefined
  return { openAt: Number(at), open, high, low, close, volume: volume >= 0 ? volume : 0 }
}

export function unreadableRow(
  { receivedAt }: { readonly receivedAt: number },
  message: string,
): Answer<never> {
  const cause = 'unreadableRow'
  return { kind: 'unknown', cause, code: SUCCESS_CODE, message, status: 200, receivedAt }
}

import { z } from 'zod'
import { defineEndpoint } from '../endpoint.ts'
import { isWithin90Days, type TimeSpan } from '../time-span.ts'
import { millisText, pageLimit, productType, symbol } from '../values.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
/** Long candles without `utc` in their name begin at this zone's midnight. */
const EXCHANGE_ZONE_MS = 8 * HOUR_MS

/** Keyed by the name on the wire. `shiftMs` moves their midnight before UTC's. */
export const GRANULARITIES = {
  '1m': { lengthMs: MINUTE_MS, shiftMs: 0 },
  '3m': { lengthMs: 3 * MINUTE_MS, shiftMs: 0 },
  '5m': { lengthMs: 5 * MINUTE_MS, shiftMs: 0 },
  '15m': { lengthMs: 15 * MINUTE_MS, shiftMs: 0 },
  '30m': { lengthMs: 30 * MINUTE_MS, shiftMs: 0 },
  '1H': { lengthMs: HOUR_MS, shiftMs: 0 },
  '4H': { lengthMs: 4 * HOUR_MS, shiftMs: 0 },
  '6H': { lengthMs: 6 * HOUR_MS, shiftMs: EXCHANGE_ZONE_MS },
  '12H': { lengthMs: 12 * HOUR_MS, shiftMs: EXCHANGE_ZONE_MS },
  '1D': { lengthMs: DAY_MS, shiftMs: EXCHANGE_ZONE_MS },
  '6Hutc': { lengthMs: 6 * HOUR_MS, shiftMs: 0 },
  '12Hutc': { lengthMs: 12 * HOUR_MS, shiftMs: 0 },
  '1Dutc': { lengthMs: DAY_MS, shiftMs: 0 },
} as const

export type Granularity = keyof typeof GRANULARITIES

const names = Object.keys(GRANULARITIES) as [Granularity, ...Granularity[]]

/** Undefined if the exchange has none. */
export function granularityOf(lengthMs: number): Granularity | undefined {
  return names.find((name) => {
    const { lengthMs: own, shiftMs } = GRANULARITIES[name]
    return own === lengthMs && shiftMs === 0
  })
}

export const CANDLES_PAGE_MAX = 1000
export const HISTORY_CANDLES_PAGE_MAX = 200

function candlesRequest(limitMax: number) {
  return z.strictObject({
    symbol: symbol.describe('Trading pair'),
    productType: productType.describe('Product type'),
    granularity: z.enum(names).describe('Length of a candle'),
    startTime: millisText.optional().describe('Candles that open at or after it, Unix ms'),
    endTime: millisText.optional().describe('Candles that open before it, Unix ms'),
    limit: pageLimit({ byDefault: 100, max: limitMax }).optional(),
  })
}

const text = z.string()

const candleRows = z
  .array(z.tuple([text, text, text, text, text], text))
  .describe(
    'rows, oldest first: open time (Unix ms), open, high, low, close, volume in the base coin, volume in the quote coin',
  )

const spanRule = (request: TimeSpan) =>
  isWithin90Days(request) ? [] : ['startTime and endTime are at most 90 days apart']

/**
 * With the running one: minutes go back a month, hours 83 days. Public. Source:
 * https://www.bitget.com/api-doc/contract/market/Get-Candle-Data
 */
export const candles = defineEndpoint({
  name: 'candles',
  method: 'GET',
  path: '/api/v2/mix/market/candles',
  auth: 'public',
  limit: { calls: 20, perMs: 1000, scope: 'ip' },
  retry: 'safe',
  section: 'beyond the document (recent candles, public)',
  outside: true,
  request: candlesRequest(CANDLES_PAGE_MAX),
  response: candleRows,
  rules: spanRule,
})

/**
 * Closed candles as far back as there are. Public. Source:
 * https://www.bitget.com/api-doc/contract/market/Get-History-Candle-Data
 */
export const historyCandles = defineEndpoint({
  name: 'historyCandles',
  method: 'GET',
  path: '/api/v2/mix/market/history-candles',
  auth: 'public',
  limit: { calls: 20, perMs: 1000, scope: 'ip' },
  retry: 'safe',
  section: 'beyond the document (closed candles, public)',
  outside: true,
  request: candlesRequest(HISTORY_CANDLES_PAGE_MAX),
  response: candleRows,
  rules: spanRule,
})

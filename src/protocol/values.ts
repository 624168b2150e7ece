import { z } from 'zod'
import { arrayOrNull, textOrNull } from './answer-values.ts'

/** Document: Resources and their fields. */

export const productType = z.enum([
  'USDT-FUTURES',
  'COIN-FUTURES',
  'USDC-FUTURES',
  'SUSDT-FUTURES',
  'SCOIN-FUTURES',
  'SUSDC-FUTURES',
])

export const marginMode = z.enum(['isolated', 'crossed'])
export const side = z.enum(['buy', 'sell'])
export const tradeSide = z.enum(['open', 'close'])
export const orderType = z.enum(['limit', 'market'])
export const force = z.enum(['gtc', 'ioc', 'fok', 'post_only'])
export const stpMode = z.enum(['none', 'cancel_taker', 'cancel_maker', 'cancel_both'])
export const triggerType = z.enum(['fill_price', 'mark_price'])

export const symbol = z
  .string()
  .regex(/^[A-Z0-9]{2,30}(_[A-Z0-9]{1,12})?$/, 'a symbol in capitals such as BTCUSDT')

/** Document: "Margin coin, upper case". */
export const marginCoin = z
  .string()
  .regex(/^[A-Z0-9]{2,20}$/, 'the margin coin in capitals such as USDT')

export const positiveDecimal = z
  .string()
  .regex(/^(?=.*[1-9])\d{1,20}(\.\d{1,20})?$/, 'a positive decimal in a string such as "0.01"')

export const decimalText = z
  .string()
  .regex(/^\d{1,20}(\.\d{1,20})?$/, 'a decimal in a string such as "0.01"')

export const millisText = z.string().regex(/^\d{10,16}$/, 'Unix milliseconds in a string')

export const exchangeId = z.string().regex(/^\d{1,32}$/, 'an identifier of digits')

/**
 * Ids may be empty, and samples mask some. Characters with an effect on a terminal, a log or a
 * spreadsheet are refused, and placeholders for secrets.
 */
export const answeredId = z
  .string()
  .regex(
    /^[\w#*.:-]{0,64}$/,
    'no id of the exchange: letters, digits and # * _ . : - only, 64 at most',
  )

/** All variants of the real exchange accept these characters, and all clients sign them alike. */
export const clientOid = z
  .string()
  .regex(/^[0-9A-Za-z_-]{1,32}$/, '1 to 32 letters, digits, "-" or "_"')

/** Document: "receiveWindow (ms; must not exceed 60 s)". */
export const receiveWindow = z
  .string()
  .regex(/^\d{1,15}$/, 'milliseconds in a string; receiveWindow must not exceed 60 s (60000 ms)')
  .refine((text) => Number(text) <= 60_000, 'receiveWindow must not exceed 60 s (60000 ms)')
  .describe('How long the request is valid, ms; must not exceed 60 s')

export const requestTime = millisText.describe('Request time, Unix ms')

/** 1 to `max`, if the document gives a maximum. */
export function pageLimit({
  byDefault,
  max,
  name = 'limit',
}: {
  readonly byDefault: number
  readonly max?: number
  readonly name?: string
}) {
  return z
    .string()
    .regex(
      /^[1-9]\d{0,3}$/,
      max === undefined ? 'a positive number in a string' : `${name} is 1 to ${max}`,
    )
    .refine((text) => max === undefined || Number(text) <= max, `${name} is 1 to ${max}`)
    .meta({ description: 'Rows a page', default: String(byDefault) })
}

/** Other clients use more characters than ours. */
export const foreignClientOid = z
  .string()
  .regex(/^[\x21-\x7e]{1,64}$/, '1 to 64 visible characters')

/** `USDT`, sometimes with lower-case letters. */
export const coin = z.string().regex(/^[A-Za-z0-9]{1,30}$/, 'the name of a coin such as BTC')

const orderIdGiven = answeredId.nullish().describe('Order ID')
const clientOidGiven = textOrNull.describe('Client-defined order ID')

/** Real answers may lack either id. */
export const orderReference = z.object({ orderId: orderIdGiven, clientOid: clientOidGiven })

/** Samples of the real exchange lack `errorCode`. */
const failureItem = z.object({
  orderId: orderIdGiven,
  clientOid: clientOidGiven,
  errorMsg: textOrNull.describe('Failure reason'),
  errorCode: textOrNull.describe('Failure code'),
})

/** Document: Batch result item. */
export const batchResult = z.object({
  successList: arrayOrNull(orderReference).describe('Orders that the exchange took'),
  failureList: arrayOrNull(failureItem).describe(
    'Orders that it did not take, each with its reason',
  ),
})

export type BatchResult = z.output<typeof batchResult>
export type WireProductType = z.infer<typeof productType>

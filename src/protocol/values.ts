import { z } from 'zod'

/** Allowed values and forms that several endpoints share. Document: Resources and their fields. */

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

/** Upper-case letters and digits, as in `BTCUSDT`; delivery contracts carry `_231229`. */
export const symbol = z
  .string()
  .regex(/^[A-Z0-9]{2,30}(_[A-Z0-9]{1,12})?$/, 'a symbol in capitals such as BTCUSDT')

/** Document: "Margin coin, upper case". */
export const marginCoin = z.string().regex(/^[A-Z0-9]{2,20}$/, 'the margin coin in capitals such as USDT')

/** A positive plain decimal in a string: never an exponent, a sign or spaces. */
export const positiveDecimal = z
  .string()
  .regex(/^(?=.*[1-9])\d{1,20}(\.\d{1,20})?$/, 'a positive decimal in a string such as "0.01"')

/** Zero or a positive plain decimal in a string. */
export const decimalText = z.string().regex(/^\d{1,20}(\.\d{1,20})?$/, 'a decimal in a string such as "0.01"')

/** Unix milliseconds in a string. */
export const millisText = z.string().regex(/^\d{10,16}$/, 'Unix milliseconds in a string')

/** An identifier issued by the exchange. */
export const exchangeId = z.string().regex(/^\d{1,32}$/, 'an identifier of digits')

/**
 * The intersection of everything that sources say of clientOid: every reading of the real exchange accepts
 * it, and a query value of these characters is signed alike whether or not it is percent-encoded.
 */
export const clientOid = z.string().regex(/^[0-9A-Za-z_-]{1,32}$/, '1 to 32 letters, digits, "-" or "_"')

/** Document: "receiveWindow (ms; must not exceed 60 s)". */
export const receiveWindow = z
  .string()
  .regex(/^\d{1,5}$/)
  .refine((text) => Number(text) <= 60_000, 'receiveWindow must not exceed 60 s (60000 ms)')

/** A value of an answer: text, or null where the exchange leaves it out. */
export const textOrNull = z.string().nullish()

/** An order reference: an item of a success list. Either id may be missing in real answers. */
export const orderReference = z.object({ orderId: textOrNull, clientOid: textOrNull })

/** An item of a futures failure list. Samples of the real exchange leave `errorCode` out. */
export const failureItem = z.object({
  orderId: textOrNull,
  clientOid: textOrNull,
  errorMsg: textOrNull,
  errorCode: textOrNull,
})

/** What batch-place and cancel-all answer. */
export const batchResult = z.object({
  successList: z
    .array(orderReference)
    .nullish()
    .transform((list) => list ?? []),
  failureList: z
    .array(failureItem)
    .nullish()
    .transform((list) => list ?? []),
})

export type ProductType = z.infer<typeof productType>
export type BatchResult = z.infer<typeof batchResult>

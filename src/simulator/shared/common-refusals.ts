import { type Refusal } from './reply.ts'

/** Refusals that several parts of the exchange have, with code and message as the real exchange's error table has them. */
export const commonRefusals = {
  symbolUnknown: (symbol: string) => refusal('40034', `Parameter ${symbol} does not exist`),
  parameter: (name: string) => refusal('40020', `Parameter ${name} error`),
  parameterEmpty: (name: string) => refusal('40019', `Parameter ${name} cannot be empty`),
  parameterPresent: (name: string) => refusal('40017', `Parameter verification failed ${name}`),
  parameterIllegal: (name: string) => refusal('400172', `Parameter verification failed ${name}`),
  outOfRange: (name: string, range: string) =>
    refusal('40053', `Value range verification failed: ${name} should be between ${range}`),
  tooManyOrders: (max: number) => refusal('40306', `Batch processing orders can only process up to ${max}`),
  outsideWindow: () => refusal('40078', 'Timestamp for this request is outside of the ME receiveWindow.'),
  windowTooLong: () => refusal('40079', 'receiveWindow timestamp must be less than 60s'),
  scale: (name: string, value: string, scale: number) =>
    refusal(
      '40808',
      `Parameter verification exception ${name} checkBDScale error value=${value} checkScale=${scale}`,
    ),
  startAfterEnd: () => refusal('20001', 'startTime should be less than endTime'),
  spanTooLong: (days: number) =>
    refusal('00001', `startTime and endTime interval cannot be greater than ${days} days`),
  idMissing: () => refusal('40924', 'orderId and clientOid must have one'),
  orderUnknown: () => refusal('43001', 'The order does not exist'),
  suspended: () => refusal('45043', 'Due to settlement or maintenance reasons, the trade is suspended'),
  sizeBelowMinimum: () => refusal('45111', 'less than the minimum order quantity'),
  sizeAboveMaximum: () => refusal('45112', 'more than the maximum order quantity'),
  notionalBelowMinimum: (minimum: string) => refusal('45110', `less than the minimum amount ${minimum} USDT`),
  priceStep: (step: string) => refusal('45115', `The price you enter should be a multiple of ${step}`),
  postOnlyBuyWouldTake: () => refusal('40815', 'The order price is higher than the highest bid price'),
  postOnlySellWouldTake: () => refusal('40816', 'The order price is lower than the lowest selling price'),
} as const

export function refusal(code: string, message: string): Refusal {
  return { ok: false, code, message }
}

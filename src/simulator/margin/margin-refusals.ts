import { type Refusal } from '../core/reply.ts'

/** Every refusal of the margin service, with code and message as the exchange's error table has them. */
export const marginRefusals = {
  symbolUnknown: (symbol: string) => refusal('40034', `Parameter ${symbol} does not exist`),
  parameter: (name: string) => refusal('40020', `Parameter ${name} error`),
  parameterEmpty: (name: string) => refusal('40019', `Parameter ${name} cannot be empty`),
  parameterPresent: (name: string) => refusal('40017', `Parameter verification failed ${name}`),
  outOfRange: (name: string, range: string) =>
    refusal('40053', `Value range verification failed: ${name} should be between ${range}`),
  spanTooLong: (days: number) =>
    refusal('00001', `startTime and endTime interval cannot be greater than ${days} days`),
  startAfterEnd: () => refusal('20001', 'startTime should be less than endTime'),
  idMissing: () => refusal('40924', 'orderId and clientOid must have one'),
  cancelTooMany: (most: number) => refusal('40912', `single cancel cannot exceed ${most}`),

  orderUnknown: () => refusal('43001', 'The order does not exist'),
  orderEnded: () => refusal('50062', 'The order status is cancelled or fullFill'),

  duplicateClientOid: () => refusal('50060', 'Duplicated clientOid'),
  noPrice: () => refusal('50029', 'The trading pair has no order price'),
  priceStep: (step: string) => refusal('45115', `The price you enter should be a multiple of ${step}`),
  sizeScale: (name: string, value: string, scale: number) =>
    refusal(
      '40808',
      `Parameter verification exception ${name} checkBDScale error value=${value} checkScale=${scale}`,
    ),
  sizeBelowMinimum: () => refusal('45111', 'less than the minimum order quantity'),
  notionalBelowMinimum: (least: string) => refusal('45110', `less than the minimum amount ${least} USDT`),
  ordersFull: () => refusal('50048', 'The maximum number of orders is exceeded'),
  balanceShort: () => refusal('50020', 'Insufficient balance'),

  coinUnknown: () => refusal('50032', 'The currency does not exist'),
  coinMismatch: () => refusal('50039', 'The currency and the trading pair do not match'),
  borrowTooSmall: () => refusal('50034', 'The borrowing amount must be over 0.00000001'),
  borrowTooLarge: () => refusal('50035', 'The maximum borrowing amount is exceeded'),
  repayTooSmall: () => refusal('50040', 'The repayment amount must be more than 0'),
  repayTooLarge: () => refusal('50041', 'The repayment amount must be less than your available balance'),
} as const

function refusal(code: string, message: string): Refusal {
  return { code, message }
}

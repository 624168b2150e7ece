import { type Refusal } from '../core/reply.ts'

/**
 * Every refusal of the spot and conversion services, with code and message as the real exchange's error table
 * has them. Where the table knows several codes for one fact, the one of the spot endpoints is taken.
 */
export const spotRefusals = {
  symbolUnknown: (symbol: string) => refusal('40034', `Parameter ${symbol} does not exist`),
  symbolClosed: () => refusal('43120', 'symbol is not open trade'),
  suspended: () => refusal('45043', 'Due to settlement or maintenance reasons, the trade is suspended'),
  parameter: (name: string) => refusal('40020', `Parameter ${name} error`),
  parameterEmpty: (name: string) => refusal('40019', `Parameter ${name} cannot be empty`),
  idMissing: () => refusal('40924', 'orderId and clientOid must have one'),
  spanReversed: () => refusal('20001', 'startTime should be less than endTime'),
  spanTooLong: (days: number) =>
    refusal('00001', `startTime and endTime interval cannot be greater than ${days} days`),
  duplicateClientOid: () => refusal('43118', 'clientOrderId duplicate'),

  scale: (name: string, value: string, scale: number) =>
    refusal(
      '40808',
      `Parameter verification exception ${name} checkBDScale error value=${value} checkScale=${scale}`,
    ),
  sizeBelowMinimum: () => refusal('45111', 'less than the minimum order quantity'),
  sizeAboveMaximum: () => refusal('45112', 'more than the maximum order quantity'),
  notionalBelowMinimum: (minimum: string) => refusal('45110', `less than the minimum amount ${minimum} USDT`),
  priceBelowLimit: (limit: string) =>
    refusal('43008', `The current order price cannot be less than ${limit}USDT`),
  priceAboveLimit: (limit: string) =>
    refusal('43009', `The current order price exceeds the limit ${limit}USDT`),
  postOnlyBuyWouldTake: () => refusal('40815', 'The order price is higher than the highest bid price'),
  postOnlySellWouldTake: () => refusal('40816', 'The order price is lower than the lowest selling price'),
  ordersFull: (count: number) =>
    refusal(
      '43128',
      `Exceeded the limit of the maximum number of orders for the total transaction pair ${count}`,
    ),
  orderUnknown: () => refusal('43001', 'The order does not exist'),
  balance: () => refusal('43012', 'Insufficient balance'),

  coinUnknown: () => refusal('13002', 'Currency does not exist'),
  coinNotWithdrawable: () => refusal('43126', 'This currency does not support withdrawals'),
  addressNotInBook: () => refusal('11000', 'withdraw address is not in addressBook'),
  withdrawalBelowMinimum: (minimum: string) =>
    refusal('43114', `Withdrawal is less than the minimum withdrawal count ${minimum}`),
  withdrawalBelowFee: (fee: string) =>
    refusal('43112', `The amount of coins withdrawn is less than the handling fee ${fee}`),
  ownAddress: () => refusal('43121', 'Withdrawal address cannot be your own'),

  conversionUnsupported: (coin: string) =>
    refusal('43131', `Current currency: ${coin} does not support convert`),
  conversionTooSmall: () => refusal('12006', 'Minimum limit not reached.'),
} as const

function refusal(code: string, message: string): Refusal {
  return { code, message }
}

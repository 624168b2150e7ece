import { commonRefusals, refusal } from '../shared/common-refusals.ts'

/**
 * Every refusal of the spot and conversion services, with code and message as the real exchange's error table
 * has them. Where the table knows several codes for one fact, the one of the spot endpoints is taken.
 */
export const spotRefusals = {
  ...commonRefusals,
  symbolClosed: () => refusal('43120', 'symbol is not open trade'),
  duplicateClientOid: () => refusal('43118', 'clientOrderId duplicate'),

  priceBelowLimit: (limit: string) =>
    refusal('43008', `The current order price cannot be less than ${limit}USDT`),
  priceAboveLimit: (limit: string) =>
    refusal('43009', `The current order price exceeds the limit ${limit}USDT`),
  ordersFull: (count: number) =>
    refusal(
      '43128',
      `Exceeded the limit of the maximum number of orders for the total transaction pair ${count}`,
    ),
  balance: () => refusal('43012', 'Insufficient balance'),

  coinUnknown: () => refusal('13002', 'Currency does not exist'),
  coinNotWithdrawable: () => refusal('43126', 'This currency does not support withdrawals'),
  addressNotInBook: () => refusal('11000', 'withdraw address is not in addressBook'),
  withdrawalBelowMinimum: (minimum: string) =>
    refusal('43114', `Withdrawal is less than the minimum withdrawal count ${minimum}`),
  withdrawalBelowFee: (fee: string) =>
    refusal('43112', `The amount of coins withdrawn is less than the handling fee ${fee}`),
  ownAddress: () => refusal('43121', 'Withdrawal address cannot be your own'),
} as const

import { commonRefusals, refusal } from '../shared/common-refusals.ts'

/** Every refusal of the margin service, with code and message as the exchange's error table has them. */
export const marginRefusals = {
  ...commonRefusals,
  outOfRange: (name: string, range: string) =>
    refusal('40053', `Value range verification failed: ${name} should be between ${range}`),
  cancelTooMany: (most: number) => refusal('40912', `single cancel cannot exceed ${most}`),
  orderEnded: () => refusal('50062', 'The order status is cancelled or fullFill'),
  duplicateClientOid: () => refusal('50060', 'Duplicated clientOid'),
  noPrice: () => refusal('50029', 'The trading pair has no order price'),
  ordersFull: () => refusal('50048', 'The maximum number of orders is exceeded'),
  balanceShort: () => refusal('50020', 'Insufficient balance'),

  coinUnknown: () => refusal('50032', 'The currency does not exist'),
  coinMismatch: () => refusal('50039', 'The currency and the trading pair do not match'),
  borrowTooSmall: () => refusal('50034', 'The borrowing amount must be over 0.00000001'),
  borrowTooLarge: () => refusal('50035', 'The maximum borrowing amount is exceeded'),
} as const

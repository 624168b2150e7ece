import type { RefusedReply } from './reply.ts'

/**
 * Where the real exchange has several codes for one fact, the code is the one that its answers
 * show.
 */
export const refusals = {
  parameter: (name: string) => refusal('40020', `Parameter ${name} error`),
  parameterEmpty: (name: string) => refusal('40019', `Parameter ${name} cannot be empty`),
  parameterPresent: (name: string) => refusal('40017', `Parameter verification failed ${name}`),
  parameterIllegal: (name: string) => refusal('400172', `Parameter verification failed ${name}`),
  outOfRange: (name: string, range: string) =>
    refusal('40053', `Value range verification failed: ${name} should be between ${range}`),
  scale: (name: string, value: string, scale: number) =>
    refusal(
      '40808',
      `Parameter verification exception ${name} checkBDScale error value=${value} checkScale=${scale}`,
    ),
  startAfterEnd: refusal('20001', 'startTime should be less than endTime'),
  spanTooLong: (days: number) =>
    refusal('00001', `startTime and endTime interval cannot be greater than ${days} days`),
  idMissing: refusal('40924', 'orderId and clientOid must have one'),
  tooManyOrders: (max: number) =>
    refusal('40306', `Batch processing orders can only process up to ${max}`),
  outsideWindow: refusal('40078', 'Timestamp for this request is outside of the ME receiveWindow.'),
  windowTooLong: refusal('40079', 'receiveWindow timestamp must be less than 60s'),
  keyNotBound: refusal('22010', 'Please bind ip whitelist address'),

  symbolUnknown: (symbol: string) => refusal('40034', `Parameter ${symbol} does not exist`),
  symbolClosed: refusal('43120', 'symbol is not open trade'),
  suspended: refusal('45043', 'Due to settlement or maintenance reasons, the trade is suspended'),
  noPrice: refusal('50029', 'The trading pair has no order price'),
  openingSoon: refusal(
    '43115',
    'The current trading pair is opening soon, please refer to the official announcement for the opening time',
  ),
  openingNearDelivery: refusal('22039', 'Limit open position when delivery is approaching.'),
  openingInDelivery: refusal('22040', 'Limit open order when delivery is approaching.'),
  closingInDelivery: refusal('22041', 'Limit close order when delivery is approaching.'),
  delisted: refusal('40309', 'The contract has been removed'),

  sizeBelowMinimum: refusal('45111', 'less than the minimum order quantity'),
  sizeAboveMaximum: refusal('45112', 'more than the maximum order quantity'),
  sizeStep: (step: string) =>
    refusal('22038', `Please enter the quantity as an integral multiple of ${step}`),
  notionalBelowMinimum: (minimum: string) =>
    refusal('45110', `less than the minimum amount ${minimum} USDT`),
  priceStep: (step: string) =>
    refusal('45115', `The price you enter should be a multiple of ${step}`),
  priceAboveLimit: {
    futures: (limit: string) => refusal('43039', `Maximum price limit exceeded ${limit}`),
    spot: (limit: string) =>
      refusal('43009', `The current order price exceeds the limit ${limit}USDT`),
  },
  priceBelowLimit: {
    futures: (limit: string) => refusal('43040', `Minimum price limit exceeded ${limit}`),
    spot: (limit: string) =>
      refusal('43008', `The current order price cannot be less than ${limit}USDT`),
  },
  postOnlyBuyWouldTake: refusal('40815', 'The order price is higher than the highest bid price'),
  postOnlySellWouldTake: refusal('40816', 'The order price is lower than the lowest selling price'),
  longTakeProfit: refusal(
    '40830',
    'The take profit price of the long position should be greater than the current price',
  ),
  shortTakeProfit: refusal(
    '40832',
    'The take profit price of short positions should be less than the current price',
  ),
  longStopLoss: (mark: string) =>
    refusal('40917', `Stop price for long positions please < mark price ${mark}`),
  shortStopLoss: (mark: string) =>
    refusal('45122', `Short position stop loss price please > mark price ${mark}`),
  positionModeMismatch: refusal(
    '40774',
    'The order type for unilateral position must also be the unilateral position type.',
  ),
  marginModeFixed: refusal(
    '45117',
    'Currently holding positions or orders, the margin mode cannot be adjusted',
  ),
  duplicateClientOid: {
    futures: refusal('40786', 'Duplicate clientOid'),
    spot: refusal('43118', 'clientOrderId duplicate'),
    margin: refusal('50060', 'Duplicated clientOid'),
  },
  ordersFull: {
    symbol: (count: number) =>
      refusal(
        '45118',
        `Reached the upper limit of the order of transactions (the current number of order + the current number of orders) ${count}`,
      ),
    product: refusal('40761', 'The total number of unfilled orders is too high'),
    plans: refusal('40889', 'The plan order of this contract has reached the upper limit'),
    spot: (count: number) =>
      refusal(
        '43128',
        `Exceeded the limit of the maximum number of orders for the total transaction pair ${count}`,
      ),
    margin: refusal('50048', 'The maximum number of orders is exceeded'),
  },

  balanceEmpty: refusal('43012', 'Insufficient balance'),
  balanceTiedUp: refusal('40754', 'balance not enough'),
  balanceExceeded: refusal('40762', 'The order amount exceeds the balance'),
  balanceShort: refusal('50020', 'Insufficient balance'),
  borrowTooSmall: refusal('50034', 'The borrowing amount must be over 0.00000001'),
  borrowTooLarge: refusal('50035', 'The maximum borrowing amount is exceeded'),
  noPosition: refusal('22002', 'No position to close'),
  positionUnavailable: refusal('40757', 'Not enough position is available.'),
  reduceOnlyExceeded: refusal(
    '40804',
    'The number of closed positions cannot exceed the number of positions held',
  ),

  orderUnknown: refusal('43001', 'The order does not exist'),
  orderDataUnknown: refusal(
    '40109',
    'The data of the order cannot be found, please confirm the order number',
  ),
  orderEnded: refusal('50062', 'The order status is cancelled or fullFill'),
  noOrderToCancel: refusal('22001', 'No order to cancel'),
  cancelTooMany: (most: number) => refusal('40912', `single cancel cannot exceed ${most}`),
  planOrderUnknown: refusal('43025', 'Plan order does not exist'),
  planOrderClosed: refusal('43026', 'The planned order has been closed'),

  positionModeFixed: refusal(
    '40920',
    'Position or order exists, the position mode cannot be switched',
  ),
  leverageHeld: refusal(
    '22020',
    'The leverage multiple is the leverage multiple of the current position and cannot be adjusted.',
  ),
  leverageOrdered: refusal(
    '45097',
    'There is currently an order or a limit order, and the leverage cannot be adjusted',
  ),
  leverageTooHigh: refusal('25223', 'Exceeds Max. leverage'),

  coinUnknown: {
    spot: refusal('13002', 'Currency does not exist'),
    margin: refusal('50032', 'The currency does not exist'),
  },
  coinMismatch: refusal('50039', 'The currency and the trading pair do not match'),
  coinNotWithdrawable: refusal('43126', 'This currency does not support withdrawals'),
  addressNotInBook: refusal('11000', 'withdraw address is not in addressBook'),
  ownAddress: refusal('43121', 'Withdrawal address cannot be your own'),
  withdrawalBelowMinimum: (minimum: string) =>
    refusal('43114', `Withdrawal is less than the minimum withdrawal count ${minimum}`),
  withdrawalBelowFee: (fee: string) =>
    refusal('43112', `The amount of coins withdrawn is less than the handling fee ${fee}`),

  notTrader: refusal('31001', 'The user is not a trader'),
  copiedSymbolUnknown: refusal('31019', 'Support trading currency pair does not exist'),
  copiedSymbolClosed: refusal(
    '31021',
    'The currency pair is not available for trading, please select another currency pair',
  ),
  copiedSymbolNotOpened: refusal(
    '31052',
    'Cannot set trading symbol that have not been opened by traders.',
  ),
} as const

function refusal(code: string, message: string): RefusedReply {
  return { ok: false, code, message }
}

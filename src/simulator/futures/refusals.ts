import { commonRefusals, refusal } from '../shared/common-refusals.ts'

/**
 * Every refusal of the core, with code and message as the real exchange's error table has them. Where the
 * table knows several codes for one fact, the one seen in answers of the order endpoints is taken.
 */
export const refusals = {
  ...commonRefusals,
  positionModeMismatch: () =>
    refusal('40774', 'The order type for unilateral position must also be the unilateral position type.'),
  marginModeFixed: () =>
    refusal('45117', 'Currently holding positions or orders, the margin mode cannot be adjusted'),
  duplicateClientOid: () => refusal('40786', 'Duplicate clientOid'),
  sizeStep: (step: string) =>
    refusal('22038', `Please enter the quantity as an integral multiple of ${step}`),
  priceAboveLimit: (limit: string) => refusal('43039', `Maximum price limit exceeded ${limit}`),
  priceBelowLimit: (limit: string) => refusal('43040', `Minimum price limit exceeded ${limit}`),
  longTakeProfit: () =>
    refusal('40830', 'The take profit price of the long position should be greater than the current price'),
  shortTakeProfit: () =>
    refusal('40832', 'The take profit price of short positions should be less than the current price'),
  longStopLoss: (mark: string) =>
    refusal('40917', `Stop price for long positions please < mark price ${mark}`),
  shortStopLoss: (mark: string) =>
    refusal('45122', `Short position stop loss price please > mark price ${mark}`),

  balanceEmpty: () => refusal('43012', 'Insufficient balance'),
  balanceTiedUp: () => refusal('40754', 'balance not enough'),
  balanceExceeded: () => refusal('40762', 'The order amount exceeds the balance'),
  noPosition: () => refusal('22002', 'No position to close'),
  positionUnavailable: () => refusal('40757', 'Not enough position is available.'),
  reduceOnlyExceeded: () =>
    refusal('40804', 'The number of closed positions cannot exceed the number of positions held'),
  symbolOrdersFull: (count: number) =>
    refusal(
      '45118',
      `Reached the upper limit of the order of transactions (the current number of order + the current number of orders) ${count}`,
    ),
  productOrdersFull: () => refusal('40761', 'The total number of unfilled orders is too high'),
  planOrdersFull: () => refusal('40889', 'The plan order of this contract has reached the upper limit'),

  noOrderToCancel: () => refusal('22001', 'No order to cancel'),
  planOrderUnknown: () => refusal('43025', 'Plan order does not exist'),
  planOrderClosed: () => refusal('43026', 'The planned order has been closed'),

  openingSoon: () =>
    refusal(
      '43115',
      'The current trading pair is opening soon, please refer to the official announcement for the opening time',
    ),
  openingNearDelivery: () => refusal('22039', 'Limit open position when delivery is approaching.'),
  openingInDelivery: () => refusal('22040', 'Limit open order when delivery is approaching.'),
  closingInDelivery: () => refusal('22041', 'Limit close order when delivery is approaching.'),
  orderDataUnknown: () =>
    refusal('40109', 'The data of the order cannot be found, please confirm the order number'),
  positionModeFixed: () => refusal('40920', 'Position or order exists, the position mode cannot be switched'),
  leverageHeld: () =>
    refusal(
      '22020',
      'The leverage multiple is the leverage multiple of the current position and cannot be adjusted.',
    ),
  leverageOrdered: () =>
    refusal('45097', 'There is currently an order or a limit order, and the leverage cannot be adjusted'),
  leverageTooHigh: () => refusal('25223', 'Exceeds Max. leverage'),

  delisted: () => refusal('40309', 'The contract has been removed'),
} as const

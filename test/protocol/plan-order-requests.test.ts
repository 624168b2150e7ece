import { describeRequest } from './request-rules.ts'

const PLAN = { orderId: '123', productType: 'USDT-FUTURES' }

describeRequest('modifyPlanOrder', PLAN, {
  accepted: [
    ['an orderId', {}],
    ['a clientOid instead', { orderId: undefined, clientOid: 'plan-1' }],
    ['the clientOid of another client', { orderId: undefined, clientOid: 'OTHER#12:3' }],
    ['both', { clientOid: 'plan-1' }],
    ['empty values: kept', { newSize: '', newPrice: '', newTriggerPrice: '', newTriggerType: '' }],
    ['a trigger price with its type', { newTriggerPrice: '1.5', newTriggerType: 'mark_price' }],
    ['a trigger price alone: the type is kept', { newTriggerPrice: '1.5' }],
    ['0 for exits: removed', { newStopSurplusTriggerPrice: '0', newStopLossTriggerPrice: '0' }],
    [
      '0 for strike prices: removed',
      { newStopSurplusExecutePrice: '0', newStopLossExecutePrice: '0' },
    ],
    ['the table’s spelling of the take-profit', { newSurplusTriggerPrice: '1.5' }],
    [
      'both spellings that agree',
      { newSurplusTriggerPrice: '1.5', newStopSurplusTriggerPrice: '1.5' },
    ],
    ['a callback ratio of 10', { newCallbackRatio: '10' }],
    [
      'what else the sample carries',
      {
        planType: 'normal_plan',
        symbol: 'ETHUSDT',
        newPresetStopSurplusPrice: '1',
        newPresetStopLossPrice: '1',
      },
    ],
    [
      'anything about the exits while the pending order is not known',
      { newStopSurplusTriggerPrice: '2', newStopLossExecutePrice: '1' },
    ],
  ],
  refused: [
    ['neither id', { orderId: undefined }, /one of orderId and clientOid is required/],
    ['no product type', { productType: undefined }, /productType/],
    [
      'a trigger type without its price',
      { newTriggerType: 'fill_price' },
      /newTriggerType requires newTriggerPrice/,
    ],
    [
      'a trigger type with an empty price',
      { newTriggerType: 'fill_price', newTriggerPrice: '' },
      /newTriggerType requires newTriggerPrice/,
    ],
    ['another trigger type', { newTriggerPrice: '1', newTriggerType: 'last' }, /newTriggerType/],
    ['a trigger price of zero', { newTriggerPrice: '0' }, /newTriggerPrice/],
    [
      'a callback ratio above 10',
      { newCallbackRatio: '10.1' },
      /newCallbackRatio must not be greater than 10/,
    ],
    [
      'two spellings that disagree',
      { newSurplusTriggerPrice: '1', newStopSurplusTriggerPrice: '2' },
      /two names of one field and must agree/,
    ],
    ['a size of zero', { newSize: '0' }, /newSize/],
    ['a parameter that does not exist', { newLeverage: '1' }, /newLeverage/],
  ],
})

describeRequest('modifyPlanOrder', PLAN, {
  context: { positionMode: 'one_way_mode', planOrder: { type: 'limit', trailing: true } },
  accepted: [
    ['a trailing order’s callback ratio', { newCallbackRatio: '3' }],
    [
      'a trailing order’s exits by their prices',
      { newCallbackRatio: '3', newStopLossTriggerPrice: '9' },
    ],
    ['empty fields', { newCallbackRatio: '3', newPrice: '', newStopLossTriggerType: '' }],
  ],
  refused: [
    [
      'a trailing order without callback ratio',
      {},
      /newCallbackRatio is required for a trailing order/,
    ],
    [
      'an empty callback ratio',
      { newCallbackRatio: '' },
      /newCallbackRatio is required for a trailing order/,
    ],
    ...(['newPrice', 'newStopSurplusExecutePrice', 'newStopLossExecutePrice'] as const).map(
      (name) =>
        [
          `${name} for a trailing order`,
          { newCallbackRatio: '3', [name]: '5' },
          new RegExp(`^${name} must be empty for a trailing order$`),
        ] as const,
    ),
    ...(['newStopSurplusTriggerType', 'newStopLossTriggerType'] as const).map(
      (name) =>
        [
          `${name} for a trailing order`,
          { newCallbackRatio: '3', [name]: 'mark_price' },
          new RegExp(`^${name} must be empty for a trailing order$`),
        ] as const,
    ),
  ],
})

describeRequest('modifyPlanOrder', PLAN, {
  context: { positionMode: 'one_way_mode', planOrder: { type: 'limit', trailing: false } },
  accepted: [
    ['a new price for a limit order', { newPrice: '5' }],
    [
      'a take-profit with its type',
      { newStopSurplusTriggerPrice: '5', newStopSurplusTriggerType: 'fill_price' },
    ],
    ['a take-profit removed without type', { newStopSurplusTriggerPrice: '0' }],
    ['a stop-loss kept without type', { newStopLossTriggerPrice: '' }],
    ['a strike price alone', { newStopLossExecutePrice: '5' }],
  ],
  refused: [
    [
      'a callback ratio',
      { newCallbackRatio: '1' },
      /newCallbackRatio must be empty for a trigger order/,
    ],
    [
      'a take-profit without type',
      { newStopSurplusTriggerPrice: '5' },
      /newStopSurplusTriggerType is required when the take-profit trigger price is set/,
    ],
    [
      'a take-profit in the other spelling without type',
      { newSurplusTriggerPrice: '5' },
      /newStopSurplusTriggerType is required/,
    ],
    [
      'a stop-loss without type',
      { newStopLossTriggerPrice: '5', newStopLossTriggerType: '' },
      /newStopLossTriggerType is required when the stop-loss trigger price is set/,
    ],
  ],
})

describeRequest('modifyPlanOrder', PLAN, {
  context: { positionMode: 'one_way_mode', planOrder: { type: 'market', trailing: false } },
  accepted: [['a new size of a market order', { newSize: '2', newPrice: '' }]],
  refused: [
    ['a price for a market order', { newPrice: '5' }, /newPrice must be empty for a market order/],
  ],
})

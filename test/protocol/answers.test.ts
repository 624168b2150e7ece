import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { endpointNamed, endpointNames, type EndpointName } from '../../src/protocol/endpoints.ts'

/** What documentation samples and recordings have in common, in values of our own: one answer an endpoint. */
const ANSWERS: Readonly<Record<EndpointName, readonly unknown[]>> = {
  batchPlaceOrder: [
    { successList: [{ orderId: '1', clientOid: 'OTHER#1' }], failureList: [] },
    {
      successList: null,
      failureList: [{ orderId: null, clientOid: 'a', errorMsg: 'no', errorCode: '40786' }],
    },
  ],
  cancelAllOrders: [
    { successList: [], failureList: [{ orderId: '2', clientOid: '3', errorMsg: 'missing' }] },
  ],
  modifyPlanOrder: [{ orderId: '1', clientOid: 'OTHER#1' }],
  orderFills: [
    {
      fillList: [
        {
          tradeId: '1',
          symbol: 'ethusdt',
          orderId: '2',
          price: '1900',
          baseVolume: '1',
          feeDetail: [
            { deduction: 'yes', feeCoin: 'XYZ', totalDeductionFee: null, totalFee: '-0.01' },
          ],
          side: 'buy',
          quoteVolume: '1900',
          profit: '102',
          enterPointSource: 'api',
          tradeSide: 'buy_single',
          posMode: 'one_way_mode',
          tradeScope: 'taker',
          cTime: '1700000000000',
        },
      ],
      endId: '1',
    },
    { fillList: null, endId: null },
  ],
  singlePosition: [
    [
      {
        symbol: 'BTCUSDT',
        marginCoin: 'USDT',
        holdSide: 'long',
        total: '0.1',
        totalFee: '',
        autoMargin: 'on',
      },
    ],
    [],
    null,
  ],
  tickers: [
    [
      {
        symbol: 'BTCUSD',
        lastPr: '1',
        ts: '1700000000000',
        deliveryTime: null,
        deliveryStatus: '',
        markPrice: '1',
      },
    ],
  ],
  longShortRatio: [[{ ts: '1700000000000', longShortRatio: '-0.96' }]],
  spotHistoryOrders: [
    [
      {
        userId: '*********',
        symbol: 'ETHUSDT',
        orderId: '****',
        clientOid: '****',
        price: '0',
        size: '20.0000000000000000',
        orderType: 'market',
        side: 'buy',
        status: 'filled',
        priceAvg: '',
        feeDetail:
          '{"newFees":{"c":0,"d":0,"deduction":false,"r":-0.1,"t":-0.1,"totalDeductionFee":0}}',
        orderSource: 'market',
        cancelReason: '',
        triggerPrice: null,
      },
    ],
    {},
    null,
  ],
  spotOrderInfo: [[{ symbol: 'A', orderId: '1', feeDetail: '', quoteCoin: 'USDT' }]],
  spotSymbols: [
    [
      {
        symbol: 'BTCUSDT',
        baseCoin: 'BTC',
        quoteCoin: 'USDT',
        status: 'online',
        areaSymbol: 'no',
        offTime: '',
      },
    ],
  ],
  spotWithdrawal: [{ orderId: '123', clientOid: '123' }],
  isolatedOpenOrders: [
    {
      orderList: [{ symbol: 'ETHUSDT', orderId: '1', side: 'buy', size: '0' }],
      maxId: '1',
      minId: '1',
    },
    { orderList: null, maxId: null, minId: null },
  ],
  crossedOpenOrders: [{ orderList: [{ symbol: 'A', orderId: '1', side: 'systemRepay-selll' }] }],
  isolatedLiquidationOrders: [
    { resultList: [{ orderId: 'xxxx', side: 'liquidation-sell', fromCoin: '' }], idLessThan: '9' },
  ],
  crossedLiquidationOrders: [
    { resultList: [{ orderId: '1', side: 'liquidation_sell' }], idLessThan: null },
  ],
  isolatedBatchCancelOrders: [
    {
      successList: [{ orderId: '1', clientOid: '1' }],
      failureList: [{ clientOid: 'a', errorMsg: 'missing' }],
    },
  ],
  copyOrderTotalDetail: [
    {
      roi: '19.38',
      totalpl: '$46.95',
      tradingPairsAvailableList: ['BTCUSDT'],
      lastWeekRoiList: [{ rate: '-14.1', ctime: '1700000000000' }],
      lastWeekProfitList: [],
      lastMonthRoiList: [],
    },
  ],
  copyConfigSettingSymbols: ['success'],
  convertRecords: [
    [
      {
        orderId: 'xxxx',
        feeDetail: [{ feeCoin: 'XYZ', fee: '0.07' }],
        status: 'success',
        ctime: '1700000000000',
      },
    ],
  ],
  createVirtualSubaccounts: [
    {
      successList: [
        {
          subaAccountUid: '7',
          subaAccountName: 'abcdefgh',
          status: 'normal',
          label: '',
          permList: ['contract_trade', 'spot_trade'],
          cTime: '1700000000000',
          uTime: '1700000000000',
        },
      ],
      failureList: [{ subaAccountName: 'ijklmnop' }],
    },
  ],
  gatewayTest: [{ anything: 1 }, null],
}

describe.each(endpointNames)('%s', (name) => {
  const { request, response } = endpointNamed(name)

  it('accepts the answers of samples and recordings', () => {
    for (const answer of ANSWERS[name]) {
      const parsed = response.safeParse(answer)
      expect(parsed.error?.issues ?? []).toEqual([])
    }
  })

  it('lets unknown fields through', () => {
    const [answer] = ANSWERS[name]
    const isList = Array.isArray(answer)
    const row: unknown = isList ? answer[0] : answer
    if (typeof row !== 'object') return
    const wider = { ...row, brandNewField: '1' }
    expect(response.safeParse(isList ? [wider] : wider).success).toBe(true)
  })

  it('has schemas that can be written down as JSON Schema', () => {
    for (const schema of [request, response]) {
      expect(() => z.toJSONSchema(schema, { io: 'input' })).not.toThrow()
    }
  })
})

describe('an answer of another shape', () => {
  const broken: readonly (readonly [EndpointName, unknown])[] = [
    ['batchPlaceOrder', 'ok'],
    ['tickers', null],
    ['singlePosition', 'flat'],
    ['spotHistoryOrders', [{ symbol: 'A', orderId: '1', feeDetail: '{' }]],
    ['spotOrderInfo', [{ symbol: 'A', orderId: '' }]],
    ['spotSymbols', { a: 1 }],
    ['crossedOpenOrders', { orderList: [{ symbol: 'A' }] }],
    ['convertRecords', [{ ctime: 5 }]],
    ['createVirtualSubaccounts', { successList: [{}] }],
    ['copyConfigSettingSymbols', null],
  ]
  it.each(broken)('is no answer of %s', (name, answer) => {
    expect(endpointNamed(name).response.safeParse(answer).success).toBe(false)
  })
})

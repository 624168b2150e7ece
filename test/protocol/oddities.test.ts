import { describe, expect, it } from 'vitest'
import { withCapitals } from '../../src/protocol/capitals.ts'
import {
  type RequestOf,
  endpointNamed,
  endpointNames,
  endpoints,
} from '../../src/protocol/endpoints.ts'
import { envelope, requestTimeOf } from '../../src/protocol/envelope.ts'
import { parseFeeDetail } from '../../src/protocol/spot/fee-detail.ts'
import { toWireRequest, writeRequest } from '../../src/protocol/write-request.ts'
import { problemsOf } from './request-rules.ts'

describe('a request that the exchange writes in one way', () => {
  it('carries the take-profit under both of its names', () => {
    const clean: RequestOf<'modifyPlanOrder'> = {
      orderId: '1',
      productType: 'USDT-FUTURES',
      newStopSurplusTriggerPrice: '5',
    }
    const wire = toWireRequest(endpointNamed('modifyPlanOrder'), clean)
    expect(wire).toEqual({ ...clean, newSurplusTriggerPrice: '5' })
    expect(problemsOf('modifyPlanOrder', wire)).toBe('')
  })

  it('carries no take-profit that was not given', () => {
    const clean: RequestOf<'modifyPlanOrder'> = { orderId: '1', productType: 'USDT-FUTURES' }
    expect(toWireRequest(endpointNamed('modifyPlanOrder'), clean)).toEqual(clean)
  })

  it('carries a clientOid under both of its names', () => {
    const clean: RequestOf<'isolatedBatchCancelOrders'> = {
      symbol: 'BTCUSDT',
      orderIdList: [{ orderId: '1' }, { clientOid: 'a' }],
    }
    const wire = toWireRequest(endpointNamed('isolatedBatchCancelOrders'), clean)
    expect(wire).toEqual({
      symbol: 'BTCUSDT',
      orderIdList: [{ orderId: '1' }, { clientOid: 'a', clientId: 'a' }],
    })
    expect(problemsOf('isolatedBatchCancelOrders', wire)).toBe('')
  })

  it('is itself where the wire has no oddity', () => {
    const odd = endpointNames.filter((name) => endpointNamed(name).toWire !== undefined)
    expect(odd).toEqual(['modifyPlanOrder', 'isolatedBatchCancelOrders'])
    const request = { symbol: 'BTCUSDT' }
    expect(toWireRequest(endpointNamed('spotSymbols'), request)).toBe(request)
  })
})

describe('samples in lower case', () => {
  it('are put in capitals at the top and in lists', () => {
    const read = withCapitals({
      productType: 'usdt-futures',
      symbol: 'ethusdt',
      marginCoin: 'usdt',
      settingList: [{ symbol: 'btcusdt', settingType: 'add', stopLossRatio: '5' }, 'x'],
      limit: 5,
    })
    expect(read).toEqual({
      productType: 'USDT-FUTURES',
      symbol: 'ETHUSDT',
      marginCoin: 'usdt',
      settingList: [{ symbol: 'BTCUSDT', settingType: 'ADD', stopLossRatio: '5' }, 'x'],
      limit: 5,
    })
  })

  it('are accepted then: a batch, a modification and a setting as the document writes them', () => {
    const batch = {
      symbol: 'BTCUSDT',
      productType: 'usdt-futures',
      marginMode: 'crossed',
      marginCoin: 'USDT',
      orderList: [{ size: '1', side: 'buy', tradeSide: 'open', orderType: 'market', force: 'gtc' }],
    }
    const hedge = { positionMode: 'hedge_mode' } as const
    expect(problemsOf('batchPlaceOrder', withCapitals(batch), hedge)).toBe('')
    const setting = {
      settingList: [
        { symbol: 'BTCUSDT', productType: 'USDT-FUTURES', settingType: 'add', stopLossRatio: '30' },
      ],
    }
    expect(problemsOf('copyConfigSettingSymbols', withCapitals(setting))).toBe('')
    const modification = {
      planType: 'normal_plan',
      orderId: '1',
      clientOid: '2',
      symbol: 'ethusdt',
      productType: 'usdt-futures',
      newSize: '3',
      newPrice: '2001',
      newCallbackRatio: '',
      newTriggerPrice: '2000',
      newTriggerType: 'fill_price',
      newStopSurplusExecutePrice: '2049',
      newStopSurplusTriggerPrice: '2050',
      newStopSurplusTriggerType: 'mark_price',
    }
    expect(problemsOf('modifyPlanOrder', withCapitals(modification))).toBe('')
  })
})

describe('an answer that the exchange reads in one way', () => {
  it('has sides with hyphens, spelt right', () => {
    const read = (side: string) =>
      endpoints.crossedOpenOrders.response.parse({
        orderList: [{ symbol: 'A', orderId: '1', side }],
      }).orderList[0]?.side
    expect(read('systemRepay-selll')).toBe('systemRepay-sell')
    expect(read('systemRepay-buy')).toBe('systemRepay-buy')
    expect(read('liquidation-buy')).toBe('liquidation-buy')
    expect(read('sell')).toBe('sell')
    for (const side of ['liquidation_sell', 'liquidation-sell']) {
      const page = endpoints.isolatedLiquidationOrders.response.parse({
        resultList: [{ orderId: '1', side }],
      })
      expect(page.resultList[0]?.side).toBe('liquidation-sell')
    }
  })

  it('has sub-accounts without the second a', () => {
    const read = endpoints.createVirtualSubaccounts.response.parse({
      successList: [
        { subaAccountUid: '7', subaAccountName: 'abcdefgh', status: 'normal', label: '' },
      ],
      failureList: [{ subaAccountName: 'ijklmnop' }],
    })
    expect(read.successList).toEqual([
      { subAccountUid: '7', subAccountName: 'abcdefgh', status: 'normal', permList: [] },
    ])
    expect(read.failureList).toEqual([{ subAccountName: 'ijklmnop' }])
  })

  it('has instants called ts, by whichever name they came', () => {
    const read = (time: object) =>
      endpoints.convertRecords.response.parse([{ orderId: '1', ...time }])[0]
    expect(read({ ctime: '5' })?.ts).toBe('5')
    expect(read({ ts: '6' })?.ts).toBe('6')
    expect(read({ ctime: '5' })).not.toHaveProperty('ctime')
    const summary = endpoints.copyOrderTotalDetail.response.parse({
      totalpl: '$46.95',
      lastWeekRoiList: [{ rate: '1', ctime: '5' }],
      lastMonthProfitList: [{ amount: '2', ctime: '6' }],
    })
    expect(summary.totalpl).toBe('46.95')
    expect(summary.lastWeekRoiList).toEqual([{ ts: '5', rate: '1' }])
    expect(summary.lastMonthProfitList).toEqual([{ ts: '6', amount: '2' }])
  })

  it('has undefined for null, empty and missing, and lists that are always there', () => {
    const read = endpoints.spotSymbols.response
    const row = { symbol: 'A', baseCoin: 'B', quoteCoin: 'C' }
    for (const quotePrecision of [null, '', undefined]) {
      expect(read.parse([{ ...row, quotePrecision }])[0]?.quotePrecision).toBeUndefined()
    }
    for (const nothing of [null, undefined, {}, []]) expect(read.parse(nothing)).toEqual([])
    expect(endpoints.isolatedBatchCancelOrders.response.parse({})).toEqual({
      successList: [],
      failureList: [],
    })
  })

  it('has the text of one spot answer under message, and a request time in a string or a number', () => {
    expect(endpointNames.filter((name) => endpointNamed(name).textField === 'message')).toEqual([
      'spotHistoryOrders',
    ])
    const read = envelope.parse({
      code: '00000',
      message: 'success',
      requestTime: '1700000000000',
      data: [],
    })
    expect(read.message).toBe('success')
    expect(requestTimeOf(read)).toBe(1_700_000_000_000)
    expect(requestTimeOf(envelope.parse({ code: '1', requestTime: 1_700_000_000_000 }))).toBe(
      1_700_000_000_000,
    )
    for (const requestTime of [null, '', 'soon', '-1', '1.5']) {
      expect(requestTimeOf(envelope.parse({ code: '1', requestTime }))).toBeUndefined()
    }
  })
})

describe('feeDetail', () => {
  it('is read by newFees where it has them, in the digits of the wire', () => {
    const text =
      '{"newFees":{"c":0,"d":0,"deduction":false,"r":-0.112079256,"t":-0.1120792560000000001,"totalDeductionFee":0}}'
    expect(parseFeeDetail(text)).toEqual({
      source: 'newFees',
      total: '-0.1120792560000000001',
      byCoupons: '0',
      byPlatformCoin: '0',
      fromObtainedCoin: '-0.112079256',
      coin: undefined,
    })
  })

  it('is read by newFees where both are there, the coin beside them', () => {
    const text =
      '{"XYZ":{"deduction":true,"feeCoinCode":"XYZ","totalDeductionFee":-0.0041,"totalFee":-0.004},"newFees":{"t":-0.1}}'
    expect(parseFeeDetail(text)).toEqual({
      source: 'newFees',
      total: '-0.1',
      byCoupons: undefined,
      byPlatformCoin: undefined,
      fromObtainedCoin: undefined,
      coin: { feeCoin: 'XYZ', isDeducted: true, deduction: '-0.0041', total: '-0.004' },
    })
  })

  it('is read by the key named after a coin in earlier data', () => {
    const text =
      '{"USDT":{"deduction":false,"feeCoinCode":"USDT","totalDeductionFee":0,"totalFee":-0.00192980}}'
    expect(parseFeeDetail(text)).toMatchObject({
      source: 'coin',
      total: '-0.00192980',
      byPlatformCoin: '0',
    })
  })

  it('is nothing where it is empty, and a problem where it cannot be read', () => {
    for (const text of ['', '{}', 'null']) expect(parseFeeDetail(text)).toBeUndefined()
    expect(parseFeeDetail('{')).toMatch(/not a JSON document/)
    expect(parseFeeDetail('[]')).toMatch(/not an object of fees/)
    expect(parseFeeDetail('{"USDT":5}')).toMatch(/feeDetail.USDT is not an object of fees/)
  })
})

describe('a written request', () => {
  it('has a query, a body or both', () => {
    expect(writeRequest(endpointNamed('tickers'), { productType: 'USDT-FUTURES' })).toEqual({
      query: 'productType=USDT-FUTURES',
      body: '',
    })
    expect(
      writeRequest(endpointNamed('cancelAllOrders'), { productType: 'A', symbol: undefined }),
    ).toEqual({
      query: '',
      body: '{"productType":"A"}',
    })
    expect(
      writeRequest(endpointNamed('gatewayTest'), { query: { b: '2', a: '1' }, body: { z: 1 } }),
    ).toEqual({
      query: 'a=1&b=2',
      body: '{"z":1}',
    })
    expect(writeRequest(endpointNamed('copyOrderTotalDetail'), {})).toEqual({ query: '', body: '' })
  })
})

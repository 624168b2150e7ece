import { describe, expect, it } from 'vitest'
import { describeEndpoint } from '../../src/protocol/describe-endpoint.ts'
import { endpointNamed } from '../../src/protocol/endpoints.ts'

describe('a described endpoint', () => {
  const { parameters, answer, ...columns } = describeEndpoint(endpointNamed('batchPlaceOrder'))
  const parameter = (name: string) => parameters.find((field) => field.name === name)

  it('has the columns of its row', () => {
    expect(columns).toEqual({
      name: 'batchPlaceOrder',
      method: 'POST',
      outside: false,
      path: '/api/v2/mix/order/batch-place-order',
      auth: 'schemeA',
      limit: { calls: 5, perMs: 1000, scope: 'uid', copyTraderCalls: 1 },
      retry: 'protocol',
      section: 'POST /api/v2/mix/order/batch-place-order (place orders in batch)',
      pathParameters: [],
    })
  })

  it('says of a parameter what it is, whether it must be there, and what it takes', () => {
    expect(parameter('orderList[].force')).toMatchObject({
      type: 'string',
      isRequired: false,
      values: ['gtc', 'ioc', 'fok', 'post_only'],
      default: 'gtc',
    })
    expect(parameter('orderList')).toMatchObject({ type: 'list', isRequired: true, itemsMax: 50 })
    expect(parameter('orderList[].presetStopLossPrice')).toMatchObject({
      type: 'string',
      mayBeEmpty: true,
    })
  })

  it('says what the answer has', () => {
    expect(answer.map(({ name }) => name)).toContain('failureList[].errorCode')
  })

  it('says which spelling to use where there are two', () => {
    const fields = describeEndpoint(endpointNamed('modifyPlanOrder')).parameters
    expect(fields.find(({ name }) => name === 'newSurplusTriggerPrice')?.aliasOf).toBe(
      'newStopSurplusTriggerPrice',
    )
    expect(fields.filter(({ aliasOf }) => aliasOf !== undefined)).toHaveLength(1)
  })

  it('knows the values of answers through their transforms, and parameters of paths', () => {
    const open = describeEndpoint(endpointNamed('crossedOpenOrders'))
    const side = open.answer.find(({ name }) => name === 'orderList[].side')
    expect(side?.values).toContain('systemRepay-selll')
    expect(describeEndpoint(endpointNamed('convertRecords')).pathParameters).toEqual([
      'platform_coin',
    ])
    expect(
      describeEndpoint(endpointNamed('gatewayTest')).parameters.map(({ name, type }) => [
        name,
        type,
      ]),
    ).toEqual([
      ['query', 'object'],
      ['body', 'object'],
    ])
  })
})

import { describe, expect, it } from 'vitest'
import { granularityOf } from '../../src/protocol/beyond/candles.ts'
import { beyondEndpoints, beyondNames } from '../../src/protocol/beyond/beyond-endpoints.ts'
import { endpointNamed, endpointNames } from '../../src/protocol/endpoints.ts'

const row = ['1695835800000', '26210.5', '26210.5', '26194.5', '26194.5', '26.26', '687897.63']

describe('the table beyond the document', () => {
  it('is marked, and none of it is of the document: public reads, and two signed calls', () => {
    const signed = ['ordersPlanPending', 'modifyTpslOrder']
    for (const name of beyondNames) {
      const isMove = name === 'modifyTpslOrder'
      const { auth, method, outside, retry } = endpointNamed(name)
      expect({ auth, method, outside, retry }).toEqual({
        auth: signed.includes(name) ? 'schemeA' : 'public',
        method: isMove ? 'POST' : 'GET',
        outside: true,
        retry: isMove ? 'repeatable' : 'safe',
      })
      expect(endpointNames).not.toContain(name)
    }
  })

  it.each([
    ['candles', [row, [...row, 'a column of tomorrow'], row.slice(0, 5)]],
    ['historyCandles', []],
    ['contracts', [{ symbol: 'BTCUSDT' }, { symbol: 'A', fundInterval: null, launchTime: '' }]],
    ['contracts', [{ symbol: 'BTCUSDT', supportMarginCoins: ['USDT'], brandNew: 1 }]],
    ['historyFundRate', [{ symbol: 'B', fundingRate: '0.0005', fundingTime: '1695776400000' }]],
    ['currentFundRate', [{ symbol: 'BTCUSDT', fundingRate: '0.0005' }]],
    ['ordersPlanPending', { entrustedList: null, endId: null }],
    [
      'ordersPlanPending',
      { entrustedList: [{ planType: 'pos_loss', symbol: 'B', orderId: '1', tomorrow: 1 }] },
    ],
    ['currentFundRate', [{ fundingRate: '0.00007', fundingRateInterval: '8', nextUpdate: '1' }]],
  ] as const)('%s accepts what the exchange may answer', (name, answer) => {
    expect(beyondEndpoints[name].response.safeParse(answer).error?.issues ?? []).toEqual([])
  })

  it.each([
    ['candles', [row.slice(0, 4)]],
    ['candles', null],
    ['contracts', [{ baseCoin: 'BTC' }]],
    ['historyFundRate', [{ fundingRate: '0.1' }]],
    ['ordersPlanPending', { entrustedList: [{ planType: 'pos_loss', symbol: 'B' }] }],
  ] as const)('%s refuses an answer of another shape', (name, answer) => {
    expect(beyondEndpoints[name].response.safeParse(answer).success).toBe(false)
  })

  it('names only lengths that are counted from midnight UTC', () => {
    expect([60_000, 300_000, 14_400_000, 21_600_000, 86_400_000].map(granularityOf)).toEqual([
      '1m',
      '5m',
      '4H',
      '6Hutc',
      '1Dutc',
    ])
    expect([1000, 120_000, 7_200_000].map(granularityOf)).toEqual([undefined, undefined, undefined])
  })
})

import { describe, expect, it } from 'vitest'
import { endpointNamed, endpointNames } from '../../../src/protocol/endpoints.ts'
import { type Endpoint } from '../../../src/protocol/endpoint.ts'
import { undocumentedRows as undocumented } from '../../../src/simulator/undocumented/undocumented.ts'

const rows: Readonly<Record<string, Omit<Endpoint, 'name'>>> = undocumented
const address = ({ method, path }: { method: string; path: string }) => `${method} ${path}`

describe('the undocumented endpoints', () => {
  it('are marked, and never in the table of the document', () => {
    const documented = endpointNames.map((name) => address(endpointNamed(name)))
    for (const [name, row] of Object.entries(rows)) {
      expect(row.outside, name).toBe(true)
      expect(documented, name).not.toContain(address(row))
      expect(endpointNames).not.toContain(name)
    }
    expect(endpointNames.some((name) => endpointNamed(name).outside)).toBe(false)
  })

  it('have an address each', () => {
    const addresses = Object.values(rows).map(address)
    expect(new Set(addresses).size).toBe(addresses.length)
  })

  it('let parameters through that they do not know, and refuse what they know to be wrong', () => {
    const { request } = undocumented.contracts
    expect(request.safeParse({ productType: 'USDT-FUTURES', whatever: '1' }).success).toBe(true)
    expect(request.safeParse({ productType: 'FUTURES' }).success).toBe(false)
  })

  it('accept their answers', () => {
    const answers = {
      serverTime: { serverTime: '1700000000000' },
      contracts: [
        {
          symbol: 'BTCUSDT',
          baseCoin: 'BTC',
          quoteCoin: 'USDT',
          pricePlace: '1',
          deliveryTime: '',
        },
      ],
      candles: [['1700000000000', '1', '2', '0.5', '1.5', '10', '15']],
      account: { marginCoin: 'USDT', available: '1', posMode: 'hedge_mode', unrealizedPL: '' },
      accounts: [
        { marginCoin: 'USDT', assetList: [{ coin: 'BTC', balance: '1', available: '1' }] },
      ],
      allPositions: [
        { symbol: 'BTCUSDT', marginCoin: 'USDT', holdSide: 'long', total: '1', takeProfit: '3' },
      ],
      symbolTicker: [{ symbol: 'BTCUSDT', lastPr: '1', ts: '1', markPrice: '1' }],
      symbolPrice: [{ symbol: 'BTCUSDT', price: '1', indexPrice: '1', markPrice: '1', ts: '1' }],
      spotTickers: [{ symbol: 'BTCUSDT', lastPr: '1', open: '1' }],
      spotAssets: [{ coin: 'USDT', available: '1', frozen: '0', locked: '0', uTime: '1' }],
      spotUnfilledOrders: [{ symbol: 'BTCUSDT', orderId: '1', priceAvg: '1', triggerPrice: null }],
      ordersHistory: {
        entrustedList: [{ symbol: 'ethusdt', orderId: '1', status: 'filled' }],
        endId: '1',
      },
      closePositions: { successList: [{ orderId: '1', clientOid: '2' }], failureList: [] },
      isolatedCancelOrder: { orderId: '1', clientOid: 'a' },
      ordersPending: { entrustedList: null, endId: null },
      orderDetail: { symbol: 'ethusdt', orderId: '1', state: 'filled', tradeSide: '' },
      placeOrder: { orderId: '1', clientOid: 'a' },
      cancelPlanOrder: { successList: [{ orderId: '1', clientOid: '' }], failureList: [] },
      ordersPlanPending: {
        entrustedList: [{ symbol: 'ethusdt', orderId: '1', uTime: '' }],
        endId: '1',
      },
      spotCoins: [{ coinId: '1', coin: 'BTC', transfer: 'true', chains: [{ chain: 'BTC' }] }],
      marginCurrencies: [
        { symbol: 'ETHUSDT', baseCoin: 'ETH', quoteCoin: 'USDT', isBorrowable: true },
      ],
    } as const
    for (const [name, answer] of Object.entries(answers)) {
      expect(rows[name]?.response.safeParse(answer).error, name).toBeUndefined()
    }
  })
})

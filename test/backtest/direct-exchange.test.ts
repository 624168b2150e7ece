import { describe, expect, it } from 'vitest'
import { addTicker, DirectExchange, UID } from '../../src/backtest/direct-exchange.ts'
import { TICKER_COLUMNS, TickerTable } from '../../src/domain/ticker-table.ts'
import { type ProductType } from '../../src/domain/instrument.ts'
import { batchPlaceOrder } from '../../src/protocol/futures/batch-place-order.ts'
import { createExchangeCore } from '../../src/simulator/futures/exchange-core.ts'
import {
  buildInstruments,
  toMarketInstrument,
} from '../../src/simulator/futures/instruments/instruments.ts'
import { SeededMarket } from '../../src/simulator/market/seeded/seeded-market.ts'

const START_AT = Date.UTC(2025, 5, 2, 6)
const PRODUCT_TYPES: readonly ProductType[] = ['USDT-FUTURES', 'COIN-FUTURES', 'USDC-FUTURES']

function openCore(productType: ProductType) {
  const instruments = buildInstruments(START_AT).filter((one) => one.productType === productType)
  const market = { seed: 7, startAt: START_AT, instruments: instruments.map(toMarketInstrument) }
  return createExchangeCore({
    instruments,
    accounts: [
      {
        uid: UID,
        label: 'direct',
        key: 'key',
        secret: 'secret',
        passphrase: 'passphrase',
        positionMode: 'one_way_mode',
        role: 'ordinary',
        balances: productType === 'USDT-FUTURES' ? { USDT: '100000' } : {},
        leverage: 10,
      },
    ],
    market: () => new SeededMarket(market),
    seed: 7,
  })
}

function rowsOf(table: TickerTable) {
  return table.symbols.map((symbol) => [
    symbol,
    TICKER_COLUMNS.map((column) => table.read(symbol, column)),
  ])
}

describe('what is read directly is what a client makes of the texts', () => {
  it.each(PRODUCT_TYPES)('tickers of %s', (productType) => {
    const core = openCore(productType)
    let now = START_AT
    const exchange = new DirectExchange(core, () => now, { productType })
    let compared = 0
    for (let step = 0; step < 15; step++) {
      now += 61_003
      const [direct, ofTexts] = [new TickerTable(100), new TickerTable(100)]
      exchange.readTickers(direct)
      for (const ticker of exchange.tickers()) addTicker(ofTexts, ticker)
      expect(rowsOf(direct)).toEqual(rowsOf(ofTexts))
      compared += direct.symbols.length
    }
    expect(compared).toBeGreaterThanOrEqual(15)
  })

  it('positions', () => {
    const core = openCore('USDT-FUTURES')
    let now = START_AT + 1000
    const exchange = new DirectExchange(core, () => now)
    const body = {
      symbol: 'BTCUSDT',
      productType: 'USDT-FUTURES',
      marginMode: 'crossed',
      marginCoin: 'USDT',
      orderList: [
        {
          size: '0.137',
          side: 'sell',
          orderType: 'market',
          clientOid: 'one',
        },
      ],
    }
    const order = batchPlaceOrder.request.parse(body)
    expect(exchange.position('BTCUSDT')).toEqual({ ok: true, data: [] })
    expect(core.answer('batchPlaceOrder', { uid: UID }, order, now).ok).toBe(true)

    for (let step = 0; step < 10; step++) {
      now += 60_007
      const direct = exchange.position('BTCUSDT')
      const request = {
        productType: 'USDT-FUTURES',
        symbol: 'BTCUSDT',
        marginCoin: 'USDT',
      } as const
      const ofWire = core.answer('singlePosition', { uid: UID }, request, now)
      expect(direct.ok && direct.data).toHaveLength(1)
      expect(ofWire).toMatchObject(direct)
    }
  })
})

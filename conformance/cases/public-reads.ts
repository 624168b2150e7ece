import assert from 'node:assert/strict'
import {
  buildInstruments,
  nextQuarterlyDelivery,
} from '../../src/simulator/futures/instruments/instruments.ts'
import { type Ccxt, type Sdk } from '../clients.ts'
import { type ConformedExchange } from '../exchange.ts'
import { assertAllowed, assertFields, at, listAt, numberAt, textAt } from '../read.ts'
import { type Report } from '../report.ts'

const PRODUCT_TYPES = [
  'USDT-FUTURES',
  'COIN-FUTURES',
  'USDC-FUTURES',
  'SUSDT-FUTURES',
  'SCOIN-FUTURES',
  'SUSDC-FUTURES',
] as const

/** Document: Futures ticker. */
const TICKER_FIELDS = [
  'symbol',
  'lastPr',
  'askPr',
  'bidPr',
  'bidSz',
  'askSz',
  'high24h',
  'low24h',
  'ts',
  'change24h',
  'baseVolume',
  'quoteVolume',
  'usdtVolume',
  'openUtc',
  'changeUtc24h',
  'indexPrice',
  'fundingRate',
  'holdingAmount',
  'open24h',
  'deliveryStartTime',
  'deliveryTime',
  'deliveryStatus',
]

/** Document: Spot symbol. */
const SYMBOL_FIELDS = [
  'symbol',
  'baseCoin',
  'quoteCoin',
  'minTradeAmount',
  'maxTradeAmount',
  'takerFeeRate',
  'makerFeeRate',
  'pricePrecision',
  'quantityPrecision',
  'quotePrecision',
  'minTradeUSDT',
  'status',
  'buyLimitPriceRatio',
  'sellLimitPriceRatio',
  'orderQuantity',
  'areaSymbol',
]

/** Markets, tickers, symbols and the ratio, as a client reads them before it has a key. */
export async function tryPublicReads(report: Report, exchange: ConformedExchange): Promise<void> {
  const ccxt = await exchange.ccxt()
  const sdk = await exchange.sdk()
  const listed = buildInstruments(nextQuarterlyDelivery(exchange.clock.now()))

  await report.try('ccxt loads the markets', async () => {
    const markets = Object.values(await ccxt.loadMarkets())
    const contracts = markets.filter(({ type }) => type !== 'spot')
    assert.equal(contracts.length, listed.length, 'a market a contract')
    for (const { symbol, priceGrid, sizeGrid } of listed) {
      const market = contracts.find(({ id }) => id === symbol)
      assert.ok(market, `${symbol} is there`)
      assert.equal(market.precision.price, Number(priceGrid.step), `tick of ${symbol}`)
      assert.equal(market.precision.amount, Number(sizeGrid.step), `lot of ${symbol}`)
      assert.equal(market.active, true, `${symbol} is active`)
    }
    const spot = markets.filter(({ type }) => type === 'spot')
    assert.ok(spot.length > 0, 'there are spot markets')
    assert.ok(
      spot.some(({ margin }) => margin),
      'one of them has margin',
    )
    return `${contracts.length} contracts with tick and lot, ${spot.length} spot, ${Object.keys(ccxt.currencies).length} currencies`
  })

  await report.try('ccxt reads the exchange time', async () => {
    const off = Math.abs((await ccxt.fetchTime()) - exchange.clock.now())
    assert.ok(off < 2000, `${off} ms off`)
    return 'serverTime within 2 s of the exchange clock'
  })

  const context = { exchange, ccxt, sdk, listed }
  await tryTickers(report, context)
  await tryRatio(report, context)

  await report.try('SDK spot symbols, all and one', async () => {
    const all = listAt((await sdk.getSpotSymbolInfo()).data)
    assertFields(all, SYMBOL_FIELDS)
    assertAllowed(all, 'status', ['offline', 'gray', 'online', 'halt'])
    assertAllowed(all, 'areaSymbol', ['yes', 'no'])
    const one = listAt((await sdk.getSpotSymbolInfo({ symbol: 'BTCUSDT' })).data)
    assert.deepEqual(
      one.map((row) => at(row, 'symbol')),
      ['BTCUSDT'],
    )
    return `${all.length} rows of ${SYMBOL_FIELDS.length} documented fields; BTCUSDT alone`
  })

  await report.try('ccxt candles', async () => {
    const candles = await ccxt.fetchOHLCV('BTC/USDT:USDT', '1m', undefined, 5)
    assert.equal(candles.length, 5)
    for (const [openedAt, open = 0, high = 0, low = 0, close = 0] of candles) {
      assert.ok(openedAt !== undefined && openedAt % 60_000 === 0, 'a candle a minute')
      assert.ok(
        low <= Math.min(open, close) && high >= Math.max(open, close),
        'low and high are such',
      )
    }
    return '5 of a minute; low and high hold open and close'
  })
}

interface Context {
  readonly exchange: ConformedExchange
  readonly ccxt: Ccxt
  readonly sdk: Sdk
  readonly listed: ReturnType<typeof buildInstruments>
}

async function tryTickers(report: Report, { exchange, ccxt, sdk, listed }: Context): Promise<void> {
  for (const productType of PRODUCT_TYPES) {
    await report.try(`SDK tickers of ${productType}`, async () => {
      const { data } = await sdk.getFuturesAllTickers({ productType })
      const rows = listAt(data)
      const symbols = listed
        .filter((row) => row.productType === productType)
        .map(({ symbol }) => symbol)
      assert.deepEqual(
        rows.map((row) => textAt(row, 'symbol')).sort(),
        symbols.sort(),
        'the symbols',
      )
      assertFields(rows, TICKER_FIELDS, ['deliveryStartTime', 'deliveryTime'])
      for (const row of rows) {
        assert.ok(numberAt(row, 'bidPr') < numberAt(row, 'askPr'), 'the bid is below the ask')
        assert.ok(
          numberAt(row, 'low24h') <= numberAt(row, 'high24h'),
          'low24h is not above high24h',
        )
        assert.ok(Math.abs(numberAt(row, 'ts') - exchange.clock.now()) < 5000, 'ts is of now')
      }
      return `${symbols.join(', ')}; ${TICKER_FIELDS.length} documented fields, bid < ask`
    })
    await report.try(`ccxt tickers of ${productType}`, async () => {
      const wanted = Object.values(await ccxt.loadMarkets()).filter(
        ({ id, type }) =>
          type !== 'spot' &&
          listed.some((row) => row.symbol === id && row.productType === productType),
      )
      const found = await ccxt.fetchTickers(
        wanted.map(({ symbol }) => symbol),
        { productType },
      )
      for (const { symbol } of wanted) {
        assert.ok(
          numberAt(found, symbol, 'bid') < numberAt(found, symbol, 'ask'),
          `${symbol}: bid below ask`,
        )
        assert.ok(numberAt(found, symbol, 'last') > 0, `${symbol}: a last price`)
      }
      return `${wanted.map(({ symbol }) => symbol).join(', ')}: bid, ask, last`
    })
  }

  await report.try('SDK tickers, product type in lower case', async () => {
    const { data } = await sdk.getFuturesAllTickers({ productType: 'usdt-futures' })
    assert.ok(listAt(data).length > 0)
    return 'as the document’s samples write it'
  })
}

async function tryRatio(report: Report, { sdk }: Context): Promise<void> {
  for (const period of ['24h', '30d', undefined]) {
    await report.try(`SDK long/short ratio, ${period ?? 'default period'}`, async () => {
      const points = listAt(
        (await sdk.getFuturesLongShortRatio({ symbol: 'BTCUSDT', period })).data,
      )
      assertFields(points, ['ts', 'longShortRatio'])
      const times = points.map((point) => numberAt(point, 'ts'))
      assert.deepEqual(
        times,
        times.toSorted((left, right) => left - right),
        'ts rises',
      )
      const spanMs = (times.at(-1) ?? 0) - (times[0] ?? 0)
      const spanMax = period === '30d' ? 30 : 1
      assert.ok(points.length > 1 && spanMs <= spanMax * 86_400_000, `the points span ${spanMs} ms`)
      for (const point of points) assert.ok(numberAt(point, 'longShortRatio') > 0)
      return `${points.length} points over ${(spanMs / 3_600_000).toFixed(1)} h`
    })
  }

  await report.try('SDK long/short ratio of the quote coin', async () => {
    const points = listAt(
      (await sdk.getFuturesLongShortRatio({ symbol: 'BTCUSDT', coin: 'USDT' })).data,
    )
    assertFields(points, ['ts', 'longShortRatio'])
    return `${points.length} points`
  })
}

import { describe, expect, test } from 'vitest'
import { ANNA, ExchangeBench } from '../exchange-bench.ts'

const PRODUCT_TYPES = [
  'USDT-FUTURES',
  'COIN-FUTURES',
  'USDC-FUTURES',
  'SUSDT-FUTURES',
  'SCOIN-FUTURES',
  'SUSDC-FUTURES',
] as const

describe('contracts', () => {
  test('give tick, lot and least size of what is traded', async () => {
    const bench = await ExchangeBench.open()

    const [btc, eth] = bench.data(ANNA, 'contracts')

    expect(btc).toMatchObject({
      symbol: 'BTCUSDT',
      pricePlace: '1',
      priceEndStep: '1',
      volumePlace: '3',
      sizeMultiplier: '0.001',
      minTradeNum: '0.001',
      minTradeUSDT: '5',
      maxLever: '125',
      symbolType: 'perpetual',
      symbolStatus: 'normal',
      supportMarginCoins: ['USDT'],
      maxOrderQty: '1200',
      maxMarketOrderQty: '220',
    })
    expect(eth).toMatchObject({
      symbol: 'ETHUSDT',
      pricePlace: '2',
      sizeMultiplier: '0.01',
      maxLever: '100',
    })
  })

  test('cover every instrument of every product type, and one where one is asked for', async () => {
    const bench = await ExchangeBench.open()

    const symbols = PRODUCT_TYPES.flatMap((productType) =>
      bench
        .data(ANNA, 'contracts', { query: `productType=${productType}` })
        .map(({ symbol }) => symbol),
    )

    expect(symbols.sort()).toEqual(
      bench.exchange.core
        .instruments()
        .map(({ symbol }) => symbol)
        .sort(),
    )
    const one = bench.data(ANNA, 'contracts', { query: 'productType=usdt-futures&symbol=ethusdt' })
    expect(one.map(({ symbol }) => symbol)).toEqual(['ETHUSDT'])
  })
})

describe('candles', () => {
  const ask = (bench: ExchangeBench, query: string) =>
    bench.data(ANNA, 'candles', { query: `productType=USDT-FUTURES&symbol=BTCUSDT&${query}` })

  test('lie on their grid without a gap, each closing where the next one opens', async () => {
    const bench = await ExchangeBench.open()
    bench.wait(10 * 60_000)

    const candles = ask(bench, 'granularity=1m&limit=1000')

    expect(candles).toHaveLength(1000)
    for (const [index, [at, open, high, low, close]] of candles.entries()) {
      const next = candles[index + 1]
      expect(Number(at) % 60_000).toBe(0)
      expect(Number(high)).toBeGreaterThanOrEqual(Math.max(Number(open), Number(close)))
      expect(Number(low)).toBeLessThanOrEqual(Math.min(Number(open), Number(close)))
      if (next) expect([Number(next[0]) - Number(at), next[1]]).toEqual([60_000, close])
    }
    const [ticker] = bench.data(ANNA, 'tickers')
    expect(candles.at(-1)?.[4]).toBe(ticker?.lastPr)
  })

  test('of an hour are the sum of their minutes', async () => {
    const bench = await ExchangeBench.open()

    const hours = ask(bench, 'granularity=1H&limit=3')
    const [, hour] = hours
    const minutes = ask(
      bench,
      `granularity=1m&limit=60&startTime=${hour?.[0]}&endTime=${hours[2]?.[0]}`,
    )

    const inHour = minutes.filter(([at]) => Number(at) < Number(hours[2]?.[0]))
    const volume = inHour.reduce((sum, row) => sum + Number(row[5]), 0)
    expect(Number(hour?.[2])).toBeGreaterThanOrEqual(
      Math.max(...inHour.map((row) => Number(row[2]))),
    )
    expect(Number(hour?.[5])).toBeGreaterThanOrEqual(volume - 1e-6)
  })

  test('of an unlisted symbol or a span of no kind are refused', async () => {
    const bench = await ExchangeBench.open()
    const code = (query: string) => bench.call(ANNA, 'candles', { query }).code

    expect(code('productType=USDT-FUTURES&symbol=XRPUSDT&granularity=1m')).toBe('40034')
    expect(code('productType=USDT-FUTURES&symbol=BTCUSDT&granularity=7m')).toBe('400172')
  })
})

test('the coins are those that can be withdrawn, by the same chains', async () => {
  const bench = await ExchangeBench.open()

  const coins = bench.data(ANNA, 'spotCoins')
  const [bitcoin] = bench.data(ANNA, 'spotCoins', { query: 'coin=btc' })

  expect(coins.map(({ coin }) => coin)).toEqual(['USDT', 'BTC', 'ETH'])
  expect(bitcoin).toMatchObject({
    coinId: '1',
    chains: [
      { chain: 'BTC', withdrawFee: '0.0001', minWithdrawAmount: '0.0005', contractAddress: null },
    ],
  })
})

test('the margin currencies are the pairs of the margin service', async () => {
  const bench = await ExchangeBench.open()

  const rows = bench.data(ANNA, 'marginCurrencies')

  expect(rows[0]).toMatchObject({
    symbol: 'BTCUSDT',
    maxIsolatedLeverage: '10',
    maxCrossedLeverage: '3',
    isBorrowable: true,
    pricePrecision: '2',
    quantityPrecision: '6',
  })
})

test('the server’s time is the exchange’s own', async () => {
  const bench = await ExchangeBench.open()
  bench.now += 12_345

  expect(bench.data(ANNA, 'serverTime')).toEqual({ serverTime: String(bench.now) })
})

import { expect, test } from 'vitest'
import { ANNA, ExchangeBench } from '../exchange-bench.ts'

async function openQuoted() {
  const bench = await ExchangeBench.open()
  bench.wait(2000)
  return bench
}

test('one ticker is the symbol’s row of all tickers', async () => {
  const bench = await openQuoted()

  const rows = bench.data(ANNA, 'tickers')

  expect(bench.data(ANNA, 'symbolTicker')).toEqual(
    rows.filter(({ symbol }) => symbol === 'BTCUSDT'),
  )
})

test('the prices of a symbol are those of its ticker', async () => {
  const bench = await openQuoted()

  const [ticker] = bench.data(ANNA, 'symbolTicker')

  expect(bench.data(ANNA, 'symbolPrice')).toEqual([
    {
      symbol: 'BTCUSDT',
      price: ticker?.lastPr,
      indexPrice: ticker?.indexPrice,
      markPrice: ticker?.markPrice,
      ts: ticker?.ts,
    },
  ])
})

test.each(['symbolTicker', 'symbolPrice'] as const)(
  '%s of an unlisted symbol is refused',
  async (name) => {
    const bench = await openQuoted()

    const answer = bench.call(ANNA, name, { query: 'productType=USDT-FUTURES&symbol=NOPEUSDT' })

    expect(answer).toMatchObject({ status: 400, code: '40034' })
  },
)

test('spot tickers are those of the pairs, at the prices that spot orders meet', async () => {
  const bench = await openQuoted()

  const rows = bench.data(ANNA, 'spotTickers')
  const [one] = bench.data(ANNA, 'spotTickers', { query: 'symbol=ETHUSDT' })

  const [contract] = bench.data(ANNA, 'symbolTicker')
  expect(rows[0]).toMatchObject({
    symbol: 'BTCUSDT',
    lastPr: contract?.lastPr,
    open: contract?.open24h,
  })
  expect(rows[0]).not.toHaveProperty('markPrice')
  expect(one?.symbol).toBe('ETHUSDT')
  expect(bench.call(ANNA, 'spotTickers', { query: 'symbol=NOPEUSDT' }).code).toBe('40034')
})

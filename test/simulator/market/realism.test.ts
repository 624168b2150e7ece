/**
 * The seeded market beside real ones; the tests hold loose bounds around these figures.
 *
 * Measured over 21 days of 100 ms steps (seed 1) beside one-minute candles of
 * the BTC and ETH perpetuals (29 May to 19 June 2025) and ten minutes of 100 ms quotes of BTC and
 * ETH spot (8 August 2024):
 *
 *   one-minute returns                    seeded BTC, ETH         real BTC, ETH
 *   volatility of a year                  0.63, 0.67              0.33, 0.62
 *   kurtosis (normal is 3)                15, 12                  11, 20
 *   kurtosis of hourly returns            11, 4.4                 6.2, 11
 *   autocorrelation of returns, lag 1     -0.01, 0.00             -0.01, -0.02
 *   of absolute returns, lag 1            0.27, 0.27              0.27, 0.26
 *     lag 5, 15                           0.21, 0.17              0.21, 0.18
 *     lag 60, 240                         0.12, 0.04              0.14, 0.08
 *   return with next absolute return      -0.05, -0.04            -0.03, -0.06
 *   range / |close - open|                1.80                    1.57, 1.85
 *   BTC with ETH: returns, absolute       0.77, 0.65              0.77, 0.67
 *   ln(volume): deviation, lag 1, lag 60  0.85, 0.64, 0.28        1.16, 0.64, 0.31
 *
 *   100 ms quotes
 *   middle unchanged                      0.87, 0.88              0.87, 0.85
 *   spread of one tick                    0.995, 0.997            0.991, 0.992
 *   ln(bid size): deviation               1.46, 1.51              1.53, 1.39
 *     autocorrelation, lag 1, 5, 10       0.75, 0.51, 0.33        0.75, 0.44, 0.22
 *   ln(bid size) with ln(ask size)        -0.37                   -0.43
 *   kurtosis of the middle's returns      128, 249                244, 28
 */
import { describe, expect, it } from 'vitest'
import type { MarketInstrument } from '../../../src/simulator/market/market.ts'
import { SeededMarket } from '../../../src/simulator/market/seeded/seeded-market.ts'

const DAYS = 3
const BTC: MarketInstrument = {
  symbol: 'BTCUSDT',
  tickSize: '0.1',
  lotSize: '0.001',
  startPrice: '105000',
  dailyTurnover: 2e9,
}
const ETH: MarketInstrument = {
  symbol: 'ETHUSDT',
  tickSize: '0.01',
  lotSize: '0.01',
  startPrice: '2600',
  dailyTurnover: 2e9,
}

interface Observed {
  closes: number[]
  volumes: number[]
  bidSizes: number[]
  askSizes: number[]
  steps: number
  unchanged: number
  oneTick: number
  tradedAtQuote: number
}

function observe(): [Observed, Observed] {
  const market = new SeededMarket({ seed: 1, instruments: [BTC, ETH], startAt: 0 })
  const all: Record<string, Observed & { middle: number; minute: number; volume: number }> = {}
  const visit: Parameters<typeof market.advance>[1] = ({ at, symbol, quote }) => {
    const seen = (all[symbol] ??= {
      closes: [],
      volumes: [],
      bidSizes: [],
      askSizes: [],
      steps: 0,
      unchanged: 0,
      oneTick: 0,
      tradedAtQuote: 0,
      middle: 0,
      minute: 0,
      volume: 0,
    })
    const minute = Math.floor(at / 60_000)
    const middle = quote.bidTicks + quote.askTicks
    if (minute !== seen.minute) {
      seen.closes.push(seen.middle)
      seen.volumes.push(seen.volume)
      seen.volume = 0
    }
    if (at < 3_600_000) {
      seen.bidSizes.push(Math.log(quote.bidLots))
      seen.askSizes.push(Math.log(quote.askLots))
    }
    seen.steps++
    if (middle === seen.middle) seen.unchanged++
    if (quote.askTicks - quote.bidTicks === 1) seen.oneTick++
    if (quote.lastTicks === quote.bidTicks || quote.lastTicks === quote.askTicks)
      seen.tradedAtQuote++
    seen.volume += quote.tradedLots
    seen.minute = minute
    seen.middle = middle
  }
  while (!market.advance(DAYS * 86_400_000, visit));
  const { BTCUSDT: btc, ETHUSDT: eth } = all
  if (!btc || !eth) throw new Error('expected both instruments')
  return [btc, eth]
}

const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length
const deviation = (values: number[]) => {
  const centre = mean(values)
  return Math.sqrt(mean(values.map((value) => (value - centre) ** 2)))
}
const kurtosis = (values: number[]) => {
  const centre = mean(values)
  return mean(values.map((value) => (value - centre) ** 4)) / deviation(values) ** 4
}
const correlation = (a: number[], b: number[]) => {
  const [centreA, centreB] = [mean(a), mean(b)]
  return (
    mean(a.map((value, index) => (value - centreA) * ((b[index] ?? NaN) - centreB))) /
    deviation(a) /
    deviation(b)
  )
}
const autocorrelation = (values: number[], lag: number) =>
  correlation(values.slice(lag), values.slice(0, -lag))
const returnsOf = (closes: number[]) =>
  closes.slice(1).map((close, index) => Math.log(close / (closes[index] ?? NaN)))

describe('the seeded market measured like a real one', () => {
  const [btc, eth] = observe()
  const returns = returnsOf(btc.closes)
  const absolute = returns.map(Math.abs)

  it('has the volatility, the tails and no memory of direction', () => {
    const yearly = deviation(returns) * Math.sqrt(525_600)

    expect(yearly).toBeGreaterThan(0.4)
    expect(yearly).toBeLessThan(0.85)
    expect(kurtosis(returns)).toBeGreaterThan(6)
    expect(kurtosis(returns)).toBeLessThan(40)
    expect(Math.abs(autocorrelation(returns, 1))).toBeLessThan(0.05)
    expect(deviation(returnsOf(eth.closes)) * Math.sqrt(525_600)).toBeGreaterThan(0.4)
  })

  it('has calm and wild hours', () => {
    expect(autocorrelation(absolute, 1)).toBeGreaterThan(0.18)
    expect(autocorrelation(absolute, 15)).toBeGreaterThan(0.08)
    expect(autocorrelation(absolute, 60)).toBeGreaterThan(0.03)
    expect(autocorrelation(absolute, 1)).toBeLessThan(0.5)
  })

  it('moves its instruments together', () => {
    const together = correlation(returns, returnsOf(eth.closes))

    expect(together).toBeGreaterThan(0.65)
    expect(together).toBeLessThan(0.9)
  })

  it('quotes one tick mostly, stands still mostly, and trades at bid and ask', () => {
    expect(btc.oneTick / btc.steps).toBeGreaterThan(0.98)
    expect(btc.oneTick / btc.steps).toBeLessThan(0.999)
    expect(btc.unchanged / btc.steps).toBeGreaterThan(0.8)
    expect(btc.unchanged / btc.steps).toBeLessThan(0.93)
    expect(btc.tradedAtQuote / btc.steps).toBeGreaterThan(0.9)
  })

  it('displays sizes that are log-normal, last a while, and lean against each other', () => {
    expect(deviation(btc.bidSizes)).toBeGreaterThan(1.2)
    expect(deviation(btc.bidSizes)).toBeLessThan(1.7)
    expect(autocorrelation(btc.bidSizes, 1)).toBeGreaterThan(0.65)
    expect(autocorrelation(btc.bidSizes, 10)).toBeLessThan(0.45)
    expect(correlation(btc.bidSizes, btc.askSizes)).toBeLessThan(-0.25)
  })

  it('turns over what it was told, in bursts', () => {
    const dailyTurnover = (mean(btc.volumes) * 1440 * mean(btc.closes)) / 2 / 10_000
    const logs = btc.volumes.map((volume) => Math.log(volume + 1))

    expect(dailyTurnover).toBeGreaterThan(1e9)
    expect(dailyTurnover).toBeLessThan(4e9)
    expect(deviation(logs)).toBeGreaterThan(0.6)
    expect(autocorrelation(logs, 1)).toBeGreaterThan(0.4)
  })
})

import { Buffer } from 'node:buffer'
import { describe, expect, test } from 'vitest'
import { createRandom } from '../../../src/lib/random.ts'
import { parseRecording } from '../../../src/prices/parse-recording.ts'
import type { MarketStep } from '../../../src/simulator/market/market.ts'
import type { CandlePathKind } from '../../../src/simulator/market/recorded/candle-path.ts'
import {
  CandleTapes,
  type FinishedTape,
} from '../../../src/simulator/market/recorded/candle-tape.ts'
import {
  RecordedMarket,
  type RecordedMarketOptions,
} from '../../../src/simulator/market/recorded/recorded-market.ts'

const START_AT = Date.UTC(2025, 0, 1)
const BTC = { symbol: 'BTCUSDT', tickSize: '0.1', lotSize: '0.001', startPrice: '100000' }
const ETH = { symbol: 'ETHUSDT', tickSize: '0.01', lotSize: '0.01', startPrice: '2600' }
const INSTRUMENTS = [BTC, ETH].map((one) => ({ ...one, dailyTurnover: 2e9 }))

interface MadeCandles {
  readonly symbol: string
  readonly price: number
  /** Some are missing, and some do not move at all. */
  readonly hasGaps?: boolean
  readonly startsAt?: number
  readonly columns?: string
  /** A share of the price. */
  readonly moves?: number
}

function madeCandles({
  symbol,
  price: first,
  hasGaps = false,
  startsAt = START_AT,
  columns = '',
  moves = 0.001,
}: MadeCandles) {
  const random = createRandom(symbol)
  const lines = [`ts_ms,open,high,low,close,volume${columns}`]
  let price = first
  for (let minute = 0; minute < 300; minute++) {
    const [open, close] = [price, price * (1 + moves * random.normal())]
    const isFlat = hasGaps && minute % 11 === 0
    const high = isFlat ? open : Math.max(open, close) * (1 + moves * random.next())
    const low = isFlat ? open : Math.min(open, close) * (1 - moves * random.next())
    const prices = [open, high, low, isFlat ? open : close].map((one) => one.toFixed(2))
    const others = columns === '' ? [] : [price.toFixed(2)]
    price = Number(prices[3])
    if (hasGaps && random.next() < 0.2) continue
    const row = [startsAt + minute * 60_000, ...prices, (random.next() * 90).toFixed(3), ...others]
    lines.push(row.join(','))
  }
  return parseRecording({ bytes: Buffer.from(lines.join('\n')), source: `${symbol}.csv`, symbol })
}

const BTC_CANDLES: MadeCandles = { symbol: 'BTCUSDT', price: 100_000 }
const ETH_CANDLES: MadeCandles = { symbol: 'ETHUSDT', price: 2600 }

function marketOptions(made: readonly MadeCandles[], candlePath: CandlePathKind = 'random') {
  const recordings = made.map(madeCandles)
  const fallback = { seed: 3 }
  return {
    recordings,
    speed: 1,
    startAt: START_AT,
    instruments: INSTRUMENTS.filter(({ symbol }) => made.some((one) => one.symbol === symbol)),
    fallback,
    candlePath,
  } satisfies RecordedMarketOptions
}

function stepsOf(options: RecordedMarketOptions): string {
  const market = new RecordedMarket(options)
  const steps: string[] = []
  const note = (step: MarketStep) => steps.push(JSON.stringify(step))
  const endsAt = market.endsAt ?? 0
  while (!market.advance(endsAt, note));
  return steps.join('\n')
}

function taped(
  options: RecordedMarketOptions,
  known: readonly FinishedTape[] = [],
): { readonly steps: string; readonly finished: readonly FinishedTape[] } {
  const finished: FinishedTape[] = []
  const tapes = new CandleTapes(known, (tape) => finished.push(tape))
  return { steps: stepsOf({ ...options, tapes }), finished }
}

describe('a tape of candles', () => {
  const worlds: Readonly<Record<string, readonly MadeCandles[]>> = {
    'one instrument': [BTC_CANDLES],
    'two instruments': [BTC_CANDLES, ETH_CANDLES],
    'gaps, and candles without a range': [{ ...BTC_CANDLES, hasGaps: true }],
    'an instrument that begins late': [
      BTC_CANDLES,
      { ...ETH_CANDLES, startsAt: START_AT + 3_600_000 },
    ],
    'mark prices of their own': [{ ...BTC_CANDLES, columns: ',mark' }],
  }
  for (const [name, made] of Object.entries(worlds))
    for (const kind of ['random', 'highFirst', 'lowFirst'] as const)
      test(`is played step by step like the candles: ${name}, ${kind}`, () => {
        const options = marketOptions(made, kind)
        const drawn = stepsOf(options)
        const first = taped(options)
        const again = taped(options, first.finished)

        expect(first.finished).toHaveLength(made.length)
        expect(first.steps).toBe(drawn)
        expect(again.steps).toBe(drawn)
        expect(again.finished).toEqual([])
      })

  test('is of its prices, seed and path alone', () => {
    const options = marketOptions([BTC_CANDLES])
    const { finished } = taped(options)
    const others: readonly RecordedMarketOptions[] = [
      { ...options, candlePath: 'highFirst' },
      { ...options, fallback: { seed: 4 } },
      marketOptions([{ ...BTC_CANDLES, price: 90_000 }]),
      { ...options, instruments: options.instruments.map((one) => ({ ...one, lotSize: '0.002' })) },
    ]

    for (const other of others) {
      const { steps, finished: own } = taped(other, finished)
      expect(own).toHaveLength(1)
      expect(steps).toBe(stepsOf(other))
    }
  })

  test('is given up where a number does not fit', () => {
    const options = marketOptions([{ ...BTC_CANDLES, moves: 0.2 }])
    const { steps, finished } = taped(options)

    expect(finished).toEqual([])
    expect(steps).toBe(stepsOf(options))
  })

  test('a run that ends early leaves none', () => {
    const finished: FinishedTape[] = []
    const tapes = new CandleTapes([], (tape) => finished.push(tape))
    const market = new RecordedMarket({ ...marketOptions([BTC_CANDLES]), tapes })
    market.advance(START_AT + 3_600_000, () => undefined)

    expect(finished).toEqual([])
  })

  test('a year of one-minute candles takes at most 220 MB', () => {
    const { finished } = taped(marketOptions([BTC_CANDLES]))
    const candles = 300

    expect(((finished[0]?.shared.byteLength ?? 0) / candles) * 525_600).toBeLessThan(220_000_000)
  })
})

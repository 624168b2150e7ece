import { describe, expect, it } from 'vitest'
import { createRandom } from '../../../src/lib/random.ts'
import {
  type Market,
  type MarketInstrument,
  type Quote,
  STEPS_PER_ADVANCE_MAX,
} from '../../../src/simulator/market/market.ts'
import {
  RecordedMarket,
  type RecordedMarketOptions,
} from '../../../src/simulator/market/recorded/recorded-market.ts'
import { DayStatistics } from '../../../src/simulator/market/day-statistics.ts'
import type { CandleRows } from '../../../src/prices/recording.ts'
import { parseRecording } from '../../../src/prices/parse-recording.ts'

const START_AT = Date.UTC(2025, 5, 1, 12)
const FIRST_AT = Date.UTC(2024, 0, 1)
const BTC: MarketInstrument = {
  symbol: 'BTCUSDT',
  tickSize: '0.1',
  lotSize: '0.001',
  startPrice: '1',
  dailyTurnover: 2e9,
}
const ETH: MarketInstrument = {
  symbol: 'ETHUSDT',
  tickSize: '0.01',
  lotSize: '0.01',
  startPrice: '2600',
  dailyTurnover: 2e9,
}

/** Candles as CSV, from a seed: prices with one decimal, opens at the close before. */
function candleText({
  seed,
  count,
  firstAt = FIRST_AT,
}: {
  seed: string
  count: number
  firstAt?: number
}) {
  const random = createRandom(seed)
  const lines = ['ts_ms,open,high,low,close,volume']
  let open = 1_000_000
  for (let row = 0; row < count; row++) {
    const close = open + Math.round(400 * random.normal())
    const high = Math.max(open, close) + random.integer(300)
    const low = Math.min(open, close) - random.integer(300)
    const prices = [open, high, low, close].map((ticks) => ticks / 10)
    lines.push([firstAt + row * 60_000, ...prices, random.integer(90_000) / 1000].join(','))
    open = close
  }
  return lines.join('\n')
}

const recording = (text: string, symbol: string) =>
  parseRecording({ bytes: Buffer.from(text), source: 'test.csv', symbol })
const CANDLES = recording(candleText({ seed: 'candles', count: 500 }), 'BTCUSDT')

const optionsAt = (speed: number, recordings = [CANDLES]): RecordedMarketOptions => ({
  recordings,
  speed,
  startAt: START_AT,
  instruments: [BTC, ETH],
  fallback: { seed: 3 },
})

interface Seen {
  at: number
  symbol: string
  bidTicks: number
  askTicks: number
  bidLots: number
  askLots: number
  lastTicks: number
  tradedLots: number
}

function walk(
  market: Market,
  { from, until, calls = 1 }: { from: number; until: number; calls?: number },
) {
  const steps: Seen[] = []
  for (let call = 1; call <= calls; call++) {
    const now = from + ((until - from) * call) / calls
    while (!market.advance(now, ({ at, symbol, quote }) => steps.push({ at, symbol, ...quote })));
  }
  return steps
}

describe('a recorded market of candles', () => {
  it('lets no figure know within a candle what nobody could see', () => {
    const market = new RecordedMarket(optionsAt(1))
    const options = { instrument: BTC, seed: 1, speed: 1, past: undefined }
    const [statistics, ofSeen] = [new DayStatistics(options), new DayStatistics(options)]
    const { high, low } = CANDLES.rows as CandleRows
    let [highest, lowest, unseen] = [0, Number.POSITIVE_INFINITY, 0]
    for (let second = 0; second < 60 * 60; second++) {
      const now = START_AT + second * 1000
      const instants = new Map<number, Quote>()
      market.advance(now, ({ at, symbol, quote }) => {
        if (symbol !== 'BTCUSDT') return
        statistics.apply(at, quote)
        if (instants.has(at)) unseen++
        instants.set(at, { ...quote })
      })
      for (const [at, { candleHighTicks: _high, candleLowTicks: _low, ...quote }] of instants) {
        ofSeen.apply(at, quote)
        highest = Math.max(highest, quote.lastTicks)
        lowest = Math.min(lowest, quote.lastTicks)
      }
      // The last point of a candle comes after 13 fourteenths of it.
      if (second % 60 === 56) {
        highest = Math.max(highest, Math.round((high[Math.floor(second / 60)] ?? 0) * 10))
        lowest = Math.min(lowest, Math.round((low[Math.floor(second / 60)] ?? 0) * 10))
      }
      const figures = statistics.read(now)
      const { indexTicks, markTicks } = ofSeen.read(now) ?? {}
      expect(figures).toMatchObject({
        high24hTicks: highest,
        low24hTicks: lowest,
        indexTicks,
        markTicks,
      })
    }
    expect(unseen).toBeGreaterThan(100)
  })

  for (const speed of [1, 600, 10_000]) {
    it(`has every candle's open, high, low, close and volume at speed ${speed}`, () => {
      const market = new RecordedMarket(optionsAt(speed, [CANDLES]))
      const { rows } = CANDLES
      if (rows.kind !== 'candles') throw new Error('expected candles')

      const until = START_AT + Math.ceil((500 * 60_000) / speed)
      const steps = walk(market, { from: START_AT, until }).filter(
        (step) => step.symbol === 'BTCUSDT',
      )

      const points = steps.length / 500
      expect(points).toBe({ 1: 16, 600: 16, 10_000: 6 }[speed])
      for (let row = 0; row < 500; row++) {
        const candle = steps.slice(row * points, (row + 1) * points)
        const lasts = candle.map((step) => step.lastTicks)
        const [first, last] = [candle[0] as Seen, candle.at(-1) as Seen]
        expect([first.lastTicks, Math.max(...lasts), Math.min(...lasts), last.lastTicks]).toEqual(
          [rows.open, rows.high, rows.low, rows.close].map((column) =>
            Math.round((column[row] ?? NaN) * 10),
          ),
        )
        expect(candle.reduce((sum, step) => sum + step.tradedLots, 0)).toBe(
          Math.round((rows.volume[row] ?? NaN) * 1000),
        )
        expect(first.at).toBe(START_AT + Math.floor((row * 60_000) / speed))
      }
    })
  }

  it('says of every point what is traded in its own candle, the last point too', () => {
    const { rows } = CANDLES
    if (rows.kind !== 'candles') throw new Error('expected candles')
    const wrong: number[] = []

    new RecordedMarket(optionsAt(1)).advance(START_AT + 500 * 60_000, ({ symbol, quote }) => {
      if (symbol !== 'BTCUSDT') return
      const { candle, candleLots } = quote
      if (candleLots !== Math.round((rows.volume[candle] as number) * 1000)) wrong.push(candle)
    })

    expect(wrong).toEqual([])
  })

  it('trades no more than the volume where that is no whole number of lots', () => {
    const rows = [`${FIRST_AT},1,2,1,2,0.0996`, `${FIRST_AT + 60_000},2,2,1,1,0.3`]
    const text = ['ts_ms,open,high,low,close,volume', ...rows].join('\n')
    const seen = new Map<number, number>()

    new RecordedMarket(optionsAt(1, [recording(text, 'BTCUSDT')])).advance(
      START_AT + 119_999,
      (step) => {
        if (step.symbol === 'BTCUSDT') seen.set(step.quote.candle, step.quote.candleLots)
      },
    )

    expect([...seen]).toEqual([
      [0, 99],
      [1, 300],
    ])
  })

  it('puts bid and ask at the last price, mostly one tick apart', () => {
    const market = new RecordedMarket(optionsAt(600))

    const steps = walk(market, { from: START_AT, until: START_AT + 50_000 })

    const btc = steps.filter((step) => step.symbol === 'BTCUSDT')
    expect(
      btc.every((step) => step.lastTicks === step.bidTicks || step.lastTicks === step.askTicks),
    ).toBe(true)
    expect(
      btc.every((step) => step.bidTicks < step.askTicks && step.bidLots > 0 && step.askLots > 0),
    ).toBe(true)
    const oneTick = btc.filter((step) => step.askTicks - step.bidTicks === 1).length / btc.length
    expect(oneTick).toBeGreaterThan(0.96)
    expect(oneTick).toBeLessThan(1)
  })

  it('gives the same steps in order of time, however the time is cut into calls', () => {
    const span = { from: START_AT, until: START_AT + 30_000 }
    const whole = new RecordedMarket(optionsAt(600))
    const pieces = new RecordedMarket(optionsAt(600))

    const steps = walk(whole, span)

    expect(walk(pieces, { ...span, calls: 1234 })).toEqual(steps)
    expect(pieces.state()).toEqual(whole.state())
    expect(
      steps.every((step, index) => index === 0 || step.at >= (steps[index - 1]?.at ?? NaN)),
    ).toBe(true)
    expect(steps.filter((step) => step.symbol === 'ETHUSDT')).toHaveLength(301)
  })

  it('merges recordings by time, those of one instant in the order of the instruments', () => {
    const SOL: MarketInstrument = { ...ETH, symbol: 'SOLUSDT' }
    const late = candleText({ seed: 'late', count: 30, firstAt: FIRST_AT + 7 * 60_000 })
    const short = candleText({ seed: 'short', count: 9 })
    const recordings = [
      recording(late, 'BTCUSDT'),
      recording(candleText({ seed: 'whole', count: 40 }), 'ETHUSDT'),
      recording(short, 'SOLUSDT'),
    ]
    const options = { ...optionsAt(1, recordings), instruments: [SOL, BTC, ETH] }
    const span = { from: START_AT, until: START_AT + 40 * 60_000 }

    const steps = walk(new RecordedMarket(options), span)

    expect(steps).toHaveLength(16 * (30 + 40 + 9) + 1)
    expect(steps).toEqual(steps.toSorted((a, b) => a.at - b.at))
    const opening = steps.filter(({ at }) => at === START_AT + 8 * 60_000)
    expect(opening.map(({ symbol }) => symbol)).toEqual(['SOLUSDT', 'BTCUSDT', 'ETHUSDT'])
  })

  it('goes on from a stored state as if it had never stopped', () => {
    const market = new RecordedMarket(optionsAt(600))
    walk(market, { from: START_AT, until: START_AT + 12_345 })

    const state = JSON.parse(JSON.stringify(market.state()))
    const restored = new RecordedMarket(optionsAt(600), state)
    const span = { from: START_AT + 12_345, until: START_AT + 40_000 }

    expect(walk(restored, span)).toEqual(walk(market, span))
  })

  it('stands still after its end, while instruments without a recording go on', () => {
    const market = new RecordedMarket(optionsAt(600))

    expect(market.endsAt).toBe(START_AT + 50_000)
    walk(market, { from: START_AT, until: START_AT + 50_000 })
    const after = walk(market, { from: START_AT, until: START_AT + 60_000 })

    expect(after.map((step) => step.symbol)).toEqual(Array(100).fill('ETHUSDT'))
  })

  it('starts again at its end when told to', () => {
    const market = new RecordedMarket({ ...optionsAt(600), instruments: [BTC], repeat: true })

    const steps = walk(market, { from: START_AT, until: START_AT + 99_999 })

    const closes = steps.filter((_, index) => index % 16 === 15).map((step) => step.lastTicks)
    expect(steps).toHaveLength(16_000)
    expect(closes.slice(500)).toEqual(closes.slice(0, 500))
    expect(steps[8000]?.at).toBe(START_AT + 50_000)
    expect(market.endsAt).toBeUndefined()
  })

  it('hands over a bounded number of steps a call, also at the highest speed', () => {
    const long = recording(candleText({ seed: 'long', count: 20_000 }), 'BTCUSDT')
    const market = new RecordedMarket(optionsAt(10_000, [long]))
    const counts: number[] = []

    for (let isDone = false; !isDone;) {
      let count = 0
      isDone = market.advance(START_AT + 1_000_000, () => count++)
      counts.push(count)
    }

    expect(Math.max(...counts)).toBeLessThanOrEqual(STEPS_PER_ADVANCE_MAX)
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(20_000 * 6 + 10_001)
  })

  it('shows the first quote of a recording that begins later, and leaves a gap still', () => {
    const text = candleText({ seed: 'late', count: 3, firstAt: FIRST_AT + 120_000 })
    const late = recording(
      text.split('\n').toSpliced(2, 1).join('\n') + `\n${FIRST_AT + 300_000},9,9,9,9,0`,
      'ETHUSDT',
    )
    const market = new RecordedMarket(optionsAt(60, [CANDLES, late]))

    const steps = walk(market, { from: START_AT, until: START_AT + 6000 }).filter(
      (one) => one.symbol === 'ETHUSDT',
    )

    expect(steps[0]).toMatchObject({ at: START_AT, tradedLots: 0 })
    expect(steps[1]).toMatchObject({ at: START_AT + 2000, lastTicks: steps[0]?.lastTicks })
    expect(steps.filter((step) => step.at > START_AT + 3000 && step.at < START_AT + 4000)).toEqual(
      [],
    )
  })
})

describe('a recorded market of quotes', () => {
  const text = [
    'ts_ms,bid,ask,bidSz,askSz,last',
    `${FIRST_AT},100.11,100.19,1.5,2,100.1`,
    `${FIRST_AT + 90},100.1,100.2,1.5004,0.0001,100.1`,
    `${FIRST_AT + 200},100.2,100.2,3,4,100.2`,
  ].join('\n')

  it('replays them as they stand, rounded outward to the grid', () => {
    const market = new RecordedMarket({
      ...optionsAt(1, [recording(text, 'BTCUSDT')]),
      instruments: [BTC],
    })

    const steps = walk(market, { from: START_AT, until: START_AT + 1000 })

    // A minute of which nothing is known yet is taken for one of an instrument of that size: 2e9 USDT a day.
    const candle = FIRST_AT / 60_000
    const usualAt = (price: number) => 2e9 / 1440 / (price * 0.001)
    const common = { symbol: 'BTCUSDT', levelTicks: 1, candle, candleLots: usualAt(100.1) }
    expect(steps).toEqual([
      {
        ...common,
        at: START_AT,
        bidTicks: 1001,
        askTicks: 1002,
        bidLots: 1500,
        askLots: 2000,
        lastTicks: 1001,
        tradedLots: 0,
      },
      {
        ...common,
        at: START_AT + 90,
        bidTicks: 1001,
        askTicks: 1002,
        bidLots: 1500,
        askLots: 1,
        lastTicks: 1001,
        tradedLots: 0,
      },
      {
        ...common,
        candleLots: usualAt(100.2),
        at: START_AT + 200,
        bidTicks: 1002,
        askTicks: 1003,
        bidLots: 3000,
        askLots: 4000,
        lastTicks: 1002,
        tradedLots: 1,
      },
    ])
    expect(market.endsAt).toBe(START_AT + 300)
    expect(market.pastDay('BTCUSDT')).toBeUndefined()
  })

  it('takes what was traded from the column volume, else a changed last price for a tenth of what was displayed', () => {
    const rows = [
      [100.1, 100.2, 2, 5, 100.1, 0.5],
      [100.1, 100.2, 2, 5, 100.2, 0.03],
      [100.1, 100.2, 2, 5, 100.1, 0.04],
      [100.1, 100.2, 2, 5, 100.1, 0.6],
    ].map((row, index) => [FIRST_AT + index * 100, ...row])
    const tradedIn = (columns: number) => {
      const header = ['ts_ms', 'bid', 'ask', 'bidSz', 'askSz', 'last', 'volume'].slice(0, columns)
      const lines = [header, ...rows.map((row) => row.slice(0, columns))].join('\n')
      const market = new RecordedMarket({
        ...optionsAt(1, [recording(lines, 'BTCUSDT')]),
        instruments: [BTC],
      })
      return walk(market, { from: START_AT, until: START_AT + 1000 }).map((step) => step.tradedLots)
    }

    expect(tradedIn(7)).toEqual([500, 30, 40, 600])
    expect(tradedIn(6)).toEqual([0, 500, 200, 0])
  })

  it('knows of each minute what was traded so far, and at least what was usual before', () => {
    const line = (second: number, volume: number) => [
      FIRST_AT + second * 1000,
      100,
      100.1,
      1,
      1,
      100,
      volume,
    ]
    const lines = [
      ['ts_ms', 'bid', 'ask', 'bidSz', 'askSz', 'last', 'volume'],
      line(0, 3),
      line(30, 5),
      line(60, 1),
      line(90, 30),
      line(120, 1),
    ].join('\n')
    const market = new RecordedMarket({
      ...optionsAt(1, [recording(lines, 'BTCUSDT')]),
      instruments: [BTC],
    })
    const seen: [number, number][] = []

    market.advance(START_AT + 200_000, ({ quote }) => seen.push([quote.candle, quote.candleLots]))

    const first = FIRST_AT / 60_000
    expect(seen.slice(2)).toEqual([
      [first + 1, 8000],
      [first + 1, 31_000],
      [first + 2, 19_500],
    ])
  })
})

describe('what a recorded market refuses', () => {
  it('a recording of an unknown instrument, two of one, none, a speed out of range', () => {
    const other = recording(candleText({ seed: 'other', count: 5 }), 'XRPUSDT')

    expect(() => new RecordedMarket(optionsAt(1, [other]))).toThrow(
      /RECORDING_SYMBOL_UNKNOWN[^]*XRPUSDT[^]*add XRPUSDT to instruments, or name another one: SYMBOL=/,
    )
    expect(() => new RecordedMarket(optionsAt(1, [{ ...other, source: 'X.prices' }]))).toThrow(
      /price file says itself of which instrument it is/,
    )
    expect(() => new RecordedMarket(optionsAt(1, [CANDLES, CANDLES]))).toThrow(
      /RECORDING_SYMBOL_TWICE/,
    )
    const coin = recording(
      `ts_ms,open,high,low,close,volume\n${FIRST_AT},0.08,0.09,0.04,0.06,5`,
      'BTCUSDT',
    )
    expect(() => new RecordedMarket(optionsAt(1, [coin]))).toThrow(
      /RECORDING_BELOW_TICK[^]*0\.04[^]*0\.1/,
    )
    expect(() => new RecordedMarket(optionsAt(1, []))).toThrow(/MARKET_OPTION_INVALID/)
    for (const speed of [0, -1, 10_001, NaN]) {
      expect(() => new RecordedMarket(optionsAt(speed))).toThrow(/MARKET_OPTION_INVALID[^]*speed/)
    }
    expect(new RecordedMarket(optionsAt(600)).identity).toMatch(/^recorded:[0-9a-f]{12}:x600$/)
  })
})

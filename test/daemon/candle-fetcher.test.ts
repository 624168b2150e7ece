import { describe, expect, test } from 'vitest'
import {
  CandleFetcher,
  type CandleFetcherOptions,
} from '../../src/daemon/market-data/candle-fetcher.ts'
import type { Answer } from '../../src/domain/answer.ts'
import { candleKey, type CandleRow } from '../../src/domain/candles.ts'
import type { EngineEvent } from '../../src/engine/event.ts'
import type { StrategySettings } from '../../src/engine/settings.ts'
import type { BeyondCaller } from '../../src/exchange/readers/candles-reader.ts'
import { type Granularity, GRANULARITIES } from '../../src/protocol/beyond/candles.ts'
import { EngineBench, STRATEGY, SYMBOL } from '../engine/engine-bench.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const NOW = Date.UTC(2026, 0, 2, 12, 0, 30)

interface Asked {
  readonly endpoint: string
  readonly granularity: string
  readonly limit: number
  readonly endTime?: string
}

/** An exchange whose candle of a minute opens at the number of its minute, and rises by one. */
class CandleExchange {
  readonly asked: Asked[] = []
  /** How many of the next calls fail. */
  failing = 0
  /** Whether `endTime` is counted in, and `startTime` is ignored. */
  isOdd = false
  /** Rows of a page, whatever is asked for. */
  rowsMax = Number.POSITIVE_INFINITY
  /** The oldest candle, Unix ms. */
  oldestAt = 0
  broken: readonly string[] | undefined
  /** Numbers of calls that are answered with an empty page. */
  emptyAt: readonly number[] = []

  readonly caller = {
    call: (endpoint: string, request: unknown) => Promise.resolve(this.#answer(endpoint, request)),
  } as unknown as BeyondCaller

  #answer(endpoint: string, request: unknown): Answer<unknown> {
    const query = request as { granularity: Granularity; limit: string } & Record<string, string>
    this.asked.push({ ...query, endpoint, limit: Number(query.limit) })
    const base = { receivedAt: NOW, requestTime: NOW }
    if (this.failing-- > 0) {
      const reason = { class: 'definite', topic: 'url', code: '40404', message: 'no such path' }
      return { kind: 'refused', status: 404, ...reason, ...base } as Answer<unknown>
    }
    if (this.emptyAt.includes(this.asked.length)) return { kind: 'accepted', data: [], ...base }
    if (this.broken) return { kind: 'accepted', data: [this.broken], ...base }
    const { lengthMs } = GRANULARITIES[query.granularity]
    const runningAt = Math.floor(NOW / lengthMs) * lengthMs
    const end = Number(query['endTime'] ?? NOW) + (this.isOdd ? lengthMs : 0)
    const start = this.isOdd ? 0 : Number(query['startTime'] ?? 0)
    const last = endpoint === 'candles' ? runningAt : runningAt - lengthMs
    const rows: string[][] = []
    for (
      let at = last;
      at >= this.oldestAt && rows.length < Math.min(this.rowsMax, Number(query.limit));
      at -= lengthMs
    ) {
      if (at < end && at >= start) rows.unshift(candleAt(at, lengthMs))
    }
    return { kind: 'accepted', data: rows, ...base }
  }
}

const priceAt = (at: number) => at / MINUTE - 29_000_000

function candleAt(at: number, lengthMs: number): string[] {
  const [open, close] = [priceAt(at), priceAt(at + lengthMs)]
  return [at, open, close, open, close, 1, open].map(String)
}

function expected(at: number, intervalMs: number, parts: number): CandleRow {
  const [open, close] = [priceAt(at), priceAt(at + intervalMs)]
  return [at, open, close, open, close, parts]
}

/** Runs a fetcher to its end; pauses take no time. */
async function fetchAll(
  exchange: CandleExchange,
  candles: ReadonlyMap<number, number>,
  options: Partial<CandleFetcherOptions> & { readonly history?: StrategySettings['history'] } = {},
) {
  const { settings } = new EngineBench()
  const [strategy] = settings.strategies.values()
  if (strategy === undefined) throw new Error('no strategy')
  const events: EngineEvent[] = []
  const logged: (readonly [string, unknown])[] = []
  const pauses: number[] = []
  const { history, ...rest } = options
  const own = { ...strategy, candles, ...(history && { history }) }
  const fetcher = new CandleFetcher({
    isAllowed: true,
    caller: exchange.caller,
    productType: 'USDT-FUTURES',
    settings: { strategies: new Map([[STRATEGY, own]]) },
    book: { candles: new Map() },
    exchangeNow: () => NOW,
    timers: {
      after: (ms, run) => {
        pauses.push(ms)
        queueMicrotask(run)
        return () => undefined
      },
    },
    dispatch: (event) => events.push(event),
    logger: { log: (level, event, fields) => logged.push([`${level} ${event}`, fields]) },
    ...rest,
  })
  fetcher.start()
  await fetcher.ended
  const fetched = events.filter((event) => event.kind === 'candlesFetched')
  return { fetched, logged, pauses, asked: exchange.asked }
}

test('one empty page is not the end of what the exchange has', async () => {
  const candles = new Map([[MINUTE, 1500]])
  const whole = await fetchAll(new CandleExchange(), candles)
  expect(whole.fetched[0]?.rows).toHaveLength(1500)
  for (let call = 1; call <= whole.asked.length; call++) {
    const exchange = new CandleExchange()
    exchange.emptyAt = [call]
    const { fetched } = await fetchAll(exchange, candles)
    expect(fetched[0]?.rows, `call ${call}`).toEqual(whole.fetched[0]?.rows)
  }
})

describe('the candles that a strategy needs', () => {
  test('are read in one call where they fit, with the one that goes on', async () => {
    const { fetched, asked, logged } = await fetchAll(
      new CandleExchange(),
      new Map([[5 * MINUTE, 384]]),
    )

    expect(asked).toMatchObject([{ endpoint: 'candles', granularity: '5m' }])
    const [series] = fetched
    const present = Date.UTC(2026, 0, 2, 12)
    expect(series?.rows).toHaveLength(384)
    expect(series?.rows.at(-1)).toEqual(expected(present - 5 * MINUTE, 5 * MINUTE, 1))
    expect(series?.running?.[0]).toBe(present)
    expect(logged).toEqual([])
  })

  test('are given up where the exchange shows one a page', async () => {
    const exchange = new CandleExchange()
    exchange.rowsMax = 1
    const { fetched, logged, asked } = await fetchAll(exchange, new Map([[MINUTE, 1500]]))

    expect(fetched).toEqual([])
    expect(logged.map(([event]) => event)).toEqual(['warn history.notFetched'])
    expect(asked.length).toBeLessThan(250)
  })

  test.each([false, true])(
    'are read page by page where they do not, with pauses; ends counted in: %s',
    async (isOdd) => {
      const exchange = new CandleExchange()
      exchange.isOdd = isOdd
      const { fetched, asked, pauses } = await fetchAll(exchange, new Map([[MINUTE, 1500]]))

      const rows = fetched[0]?.rows ?? []
      expect(rows).toHaveLength(1500)
      for (const [index, [openAt]] of rows.entries())
        expect(openAt).toBe(Date.UTC(2026, 0, 2, 12) - (1500 - index) * MINUTE)
      expect(asked.length).toBeLessThanOrEqual(5)
      expect(asked.every(({ limit }) => limit <= 1000)).toBe(true)
      expect(pauses.slice(1).every((ms) => ms >= 100)).toBe(true)
    },
  )

  test.each([
    ['2m', 2 * MINUTE, '1m', 2],
    ['10m', 10 * MINUTE, '5m', 2],
    ['2h', 2 * HOUR, '1H', 2],
    ['8h', 8 * HOUR, '4H', 2],
    ['6h', 6 * HOUR, '6Hutc', 1],
    ['1d', 24 * HOUR, '1Dutc', 1],
  ])('of %s are made of the longest that the exchange has', async (_name, ms, source, parts) => {
    const { fetched, asked } = await fetchAll(new CandleExchange(), new Map([[ms, 7]]))

    expect(asked[0]?.granularity).toBe(source)
    const present = Math.floor(NOW / ms) * ms
    expect(fetched[0]?.rows).toEqual(
      Array.from({ length: 7 }, (_, index) => expected(present - (7 - index) * ms, ms, parts)),
    )
  })

  test('are as many as the exchange has', async () => {
    const exchange = new CandleExchange()
    exchange.oldestAt = NOW - 1100 * MINUTE
    const { fetched } = await fetchAll(exchange, new Map([[MINUTE, 5000]]))

    expect(fetched[0]?.rows).toHaveLength(1099)
  })

  test('that no candle of the exchange makes up are said, and the others fetched', async () => {
    const candles = new Map([
      [90_000, 5],
      [MINUTE, 5],
    ])
    const { fetched, logged } = await fetchAll(new CandleExchange(), candles)

    expect(fetched.map(({ intervalMs }) => intervalMs)).toEqual([MINUTE])
    expect(logged).toEqual([
      [
        'warn history.notFetched',
        {
          series: [`${SYMBOL} 90s`],
          reason: 'the exchange has no candles that make up 90s',
        },
      ],
    ])
  })

  test('are not asked for without leave', async () => {
    const { asked, fetched } = await fetchAll(new CandleExchange(), new Map([[MINUTE, 5]]), {
      isAllowed: false,
    })

    expect([asked, fetched]).toEqual([[], []])
  })
})

describe('an exchange that does not answer them', () => {
  test('is asked again a few times', async () => {
    const exchange = new CandleExchange()
    exchange.failing = 3
    const { fetched, logged, pauses } = await fetchAll(exchange, new Map([[MINUTE, 5]]))

    expect(fetched[0]?.rows).toHaveLength(5)
    expect(logged).toEqual([])
    expect(pauses).toContain(30_000)
  })

  test('is said once, for all that is missing', async () => {
    const exchange = new CandleExchange()
    exchange.failing = 100
    const candles = new Map([
      [MINUTE, 5],
      [5 * MINUTE, 5],
      [HOUR, 5],
    ])
    const { fetched, logged, asked } = await fetchAll(exchange, candles)

    expect(fetched).toEqual([])
    expect(asked).toHaveLength(4)
    expect(logged).toEqual([
      [
        'warn history.notFetched',
        {
          series: [`${SYMBOL} 1m`, `${SYMBOL} 5m`, `${SYMBOL} 1h`],
          reason: 'refused 40404: no such path',
        },
      ],
    ])
  })

  test.each([
    [['1767355200000', '1', '2', '3', '1', '0']],
    [['soon', '1', '2', '1', '1', '0']],
    [['1767355200000', '1', 'NaN', '1', '1', '0']],
    [['1767355200000', '0', '0', '0', '0', '0']],
  ])('with candles is not believed: %j', async (row) => {
    const exchange = new CandleExchange()
    exchange.broken = row
    const { fetched, logged } = await fetchAll(exchange, new Map([[MINUTE, 5]]))

    expect(fetched).toEqual([])
    expect(JSON.stringify(logged)).toContain('is no candle')
  })
})

test.each([
  [false, 0, 'history.ends'],
  [true, 100, 'history.ends'],
  [true, 0, undefined],
])(
  'files of history that end before the present are said, unless the rest is fetched: %s, %i failing',
  async (isAllowed, failing, said) => {
    const exchange = new CandleExchange()
    exchange.failing = failing
    const row = expected(Date.UTC(2026, 0, 1), MINUTE, 1)
    const history = new Map([[candleKey(SYMBOL, MINUTE), [row]]])
    const { logged } = await fetchAll(exchange, new Map([[MINUTE, 5]]), { isAllowed, history })

    expect(logged.at(-1)).toEqual(
      said && [
        `warn ${said}`,
        { strategy: STRATEGY, symbol: SYMBOL, interval: '1m', since: '2026-01-01T00:01:00.000Z' },
      ],
    )
  },
)

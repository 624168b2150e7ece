import { expect, test } from 'vitest'
import {
  callCounters,
  type CountingMethod,
  defaultRateLimitSettings,
  RateLimits,
} from '../../../src/simulator/wire/checks/rate-limits.ts'
import { servedRow } from '../../../src/simulator/wire/served-rows.ts'
import { defaultWireSettings } from '../../../src/simulator/wire/settings.ts'
import { ALICE, CAROL } from './fake-core.ts'
import {
  BATCH_BODY,
  BATCH_PATH,
  GOOD_REQUESTS,
  requestFor,
  signedRequest,
  TICKERS_PATH,
} from './signed-request.ts'
import { WireBench } from './wire-bench.ts'

/** Half a second into a second of the clock. */
const NOW = 1_700_000_000_500
const COUNTINGS: readonly CountingMethod[] = ['sliding', 'fixed', 'bucket']

/** How many of the calls at these times are granted. */
function countGranted(
  counting: CountingMethod,
  times: readonly number[],
  refusedCallsCount = true,
  calls = 5,
): number {
  const take = callCounters[counting]({ calls, perMs: 1000, refusedCallsCount })
  return times.filter((at) => take(at).granted).length
}

const everyMs = (stepMs: number, count: number) =>
  Array.from({ length: count }, (_, index) => NOW + index * stepMs)

test.each(COUNTINGS)(
  '%s counting grants a burst of the documented size and no more',
  (counting) => {
    expect(countGranted(counting, everyMs(0, 12))).toBe(5)
  },
)

test.each(COUNTINGS)('%s counting tells how many calls are left', (counting) => {
  const take = callCounters[counting]({ calls: 3, perMs: 1000, refusedCallsCount: true })

  const remaining = [0, 1, 2, 3].map((offset) => take(NOW + offset).remaining)

  expect(remaining).toEqual([2, 1, 0, 0])
})

test.each([
  ['sliding', 999, 5],
  ['sliding', 1000, 10],
  ['fixed', 499, 5],
  ['fixed', 500, 10],
  ['bucket', 199, 5],
  ['bucket', 200, 6],
  ['bucket', 1000, 10],
] as const)(
  '%s counting, a burst and another %i ms later: %i are granted',
  (counting, pauseMs, granted) => {
    const times = [...everyMs(0, 5), ...Array.from({ length: 5 }, () => NOW + pauseMs)]

    expect(countGranted(counting, times)).toBe(granted)
  },
)

test.each(COUNTINGS)('%s counting never refuses calls at the documented pace', (counting) => {
  expect(countGranted(counting, everyMs(200, 100))).toBe(100)
})

test.each([
  ['sliding', true, 5],
  ['sliding', false, 50],
  ['fixed', true, 55],
  ['fixed', false, 55],
] as const)(
  'hammering at twice the pace for ten seconds, %s, refused calls count: %s',
  (counting, counts, granted) => {
    expect(countGranted(counting, everyMs(100, 100), counts)).toBe(granted)
  },
)

test('hammering a bucket starves when refused calls count, and gets the documented pace when they do not', () => {
  expect(countGranted('bucket', everyMs(100, 100), true)).toBeLessThan(12)
  expect(countGranted('bucket', everyMs(100, 100), false)).toBeGreaterThan(50)
})

test('in no window of a second does sliding counting grant more than the limit, whatever the calls', () => {
  const take = callCounters.sliding({ calls: 5, perMs: 1000, refusedCallsCount: false })
  const granted: number[] = []
  let at = NOW
  for (let call = 0; call < 5000; call++) {
    at += (call * 7919) % 131
    if (take(at).granted) granted.push(at)
  }

  for (const [index, first] of granted.entries()) {
    expect((granted[index + 5] ?? Infinity) - first).toBeGreaterThanOrEqual(1000)
  }
})

const LIMITS = GOOD_REQUESTS.flatMap((parts) =>
  COUNTINGS.map((counting) => [parts.name, counting, parts] as const),
)

test.each(LIMITS)('%s is limited as its row says, under %s counting', (name, counting, parts) => {
  const { limit, auth } = servedRow(name)
  const { scope } = limit
  const { calls } = auth === 'schemeB' ? defaultWireSettings.gatewayLimit : limit
  const bench = new WireBench({ rateLimits: { ...defaultRateLimitSettings, counting } })
  bench.now = NOW
  const request = requestFor(ALICE, { ...parts, at: NOW })
  const other =
    scope === 'ip'
      ? requestFor(ALICE, { ...parts, at: NOW, remoteAddress: '127.0.0.2' })
      : requestFor(CAROL, { ...parts, at: NOW })

  const answers = Array.from({ length: calls + 1 }, () => bench.ask(request))
  const ofAnother = bench.ask(other)

  expect(answers.map(({ code }) => code)).toEqual([...Array<string>(calls).fill('00000'), '429'])
  expect(answers.map(({ headers }) => headers['x-mbx-used-remain-limit'])).toEqual([
    ...Array.from({ length: calls }, (_, index) => String(calls - 1 - index)),
    '0',
  ])
  expect(answers.at(-1)).toMatchObject({
    status: 429,
    msg: 'Too Many Requests',
    data: null,
    requestTime: NOW,
  })
  expect(ofAnother.code).toBe('00000')
})

test('a copy trader places one batch a second where others place five', () => {
  const bench = new WireBench()
  const request = signedRequest(CAROL, { method: 'POST', path: BATCH_PATH, body: BATCH_BODY })

  const codes = [bench.ask(request).code, bench.ask(request).code]
  bench.now += 1000
  codes.push(bench.ask(request).code)

  expect(codes).toEqual(['00000', '429', '00000'])
})

test('a request that fails authentication costs its account nothing', () => {
  const bench = new WireBench()
  const good = signedRequest(ALICE, { method: 'POST', path: BATCH_PATH, body: BATCH_BODY })
  const forged = { ...good, headers: { ...good.headers, 'access-sign': 'forged' } }

  for (let call = 0; call < 20; call++) bench.ask(forged)

  expect(bench.ask(good).code).toBe('00000')
})

test('all endpoints together: no limit, as the document has none', () => {
  const limits = new RateLimits(defaultRateLimitSettings)

  const taken = Array.from({ length: 10_000 }, () => limits.takeOverall('127.0.0.1', NOW))

  expect(taken.every(Boolean)).toBe(true)
})

test('where one is set: 6000 a minute from an address, then nothing for five minutes', () => {
  const overall = { ...defaultRateLimitSettings.overall, calls: 6000 }
  const limits = new RateLimits({ ...defaultRateLimitSettings, overall })
  const takeAt = (at: number) => limits.takeOverall('127.0.0.1', at)

  const first = Array.from({ length: 6000 }, (_, index) => takeAt(NOW + index * 9))
  const trippedAt = NOW + 6000 * 9

  expect(first.every(Boolean)).toBe(true)
  expect([takeAt(trippedAt), takeAt(trippedAt + 1), takeAt(trippedAt + 299_999)]).toEqual([
    false,
    false,
    false,
  ])
  expect(limits.takeOverall('127.0.0.2', trippedAt)).toBe(true)
  expect(takeAt(trippedAt + 300_000)).toBe(true)
})

test('the minute of the overall limit slides: a call counts for the window after it', () => {
  const overall = { calls: 2, perMs: 60_000, recoveryMs: 1000 }
  const limits = new RateLimits({ ...defaultRateLimitSettings, overall })
  const granted = [0, 59_999, 60_000, 119_999, 120_000, 120_001].map((at) =>
    limits.takeOverall('a', NOW + at),
  )

  expect(granted).toEqual([true, true, true, true, true, false])
})

test('unknown addresses of the exchange count against the overall limit too', () => {
  const overall = { calls: 2, perMs: 60_000, recoveryMs: 1000 }
  const bench = new WireBench({ rateLimits: { ...defaultRateLimitSettings, overall } })

  const statuses = [1, 2, 3].map(() => bench.ask(signedRequest(ALICE, { path: '/nowhere' })).status)

  expect(statuses).toEqual([404, 404, 429])
})

test('the memory for callers is bounded: the one unseen for longest is forgotten', () => {
  const limits = new RateLimits(defaultRateLimitSettings)
  const { limit } = servedRow('longShortRatio')
  const take = (who: string) =>
    limits.take({ endpoint: 'longShortRatio', limit, who, isCopyTrader: false }, NOW)

  const first = take('first').granted
  const again = take('first').granted
  for (let index = 0; index < 10_000; index++) take(`address ${index}`)

  expect([first, again, take('first').granted]).toEqual([true, false, true])
})

test('a limit counts each endpoint on its own', () => {
  const bench = new WireBench()
  const ratio = signedRequest(ALICE, {
    path: '/api/v2/mix/market/long-short-ratio',
    query: 'symbol=BTCUSDT',
  })

  bench.ask(ratio)
  bench.ask(ratio)

  expect(
    bench.ask(signedRequest(ALICE, { path: TICKERS_PATH, query: 'productType=USDT-FUTURES' })).code,
  ).toBe('00000')
})

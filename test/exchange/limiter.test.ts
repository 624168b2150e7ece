import { describe, expect, it } from 'vitest'
import { type Grant, PRIORITY, type LimiterPriority } from '../../src/exchange/limiter/grant.ts'
import { type Limiter } from '../../src/exchange/limiter/limiter.ts'
import {
  type CallableName,
  callableNames,
  endpointNamed,
  type EndpointName,
  endpointNames,
} from '../../src/protocol/endpoints.ts'
import { createHandLimiter, type HandTime } from './limiter-fixture.ts'

function takeNow(
  limiter: Limiter,
  endpoint: CallableName,
  priority: LimiterPriority = 2,
): Grant | undefined {
  let taken: Grant | undefined
  limiter.request(endpoint, priority, (grant) => (taken = grant))?.cancel()
  return taken
}

describe('grants', () => {
  it('[LIM1] gives as many as the document allows at once, and no more', () => {
    const { limiter } = createHandLimiter()
    for (const [endpoint, calls] of [
      ['batchPlaceOrder', 5],
      ['cancelAllOrders', 1],
      ['tickers', 20],
    ] as const) {
      for (let call = 0; call < calls; call++) expect(takeNow(limiter, endpoint, 0)).toBeDefined()
      expect(takeNow(limiter, endpoint, 0)).toBeUndefined()
    }
  })

  it('is not woken again and again by a call that has left the window of all endpoints', () => {
    const { limiter, time } = createHandLimiter()
    takeNow(limiter, 'tickers')?.release()
    time.advance(61_000)
    const inFlight = takeNow(limiter, 'cancelAllOrders', 0)
    let grantedAt: number | undefined
    limiter.request('cancelAllOrders', 0, () => (grantedAt = time.monotonic()))
    time.advance(500)
    expect(time.pending).toBeLessThan(3)

    inFlight?.release()
    time.advance(900)
    expect(grantedAt).toBeUndefined()
    time.advance(200)
    expect(grantedAt).toBeDefined()
  })

  it('[LIM1] a copy-trading trader has the lower limit, where the document has one', () => {
    const { limiter } = createHandLimiter({ tier: 'copyTrader' })
    expect(takeNow(limiter, 'batchPlaceOrder')).toBeDefined()
    expect(takeNow(limiter, 'batchPlaceOrder')).toBeUndefined()
    for (let call = 0; call < 10; call++) expect(takeNow(limiter, 'orderFills')).toBeDefined()
  })

  it('[LIM1] leaves room for others when told to, and keeps one call', () => {
    const { limiter } = createHandLimiter({ use: 0.5 })
    for (let call = 0; call < 2; call++)
      expect(takeNow(limiter, 'batchPlaceOrder', 0)).toBeDefined()
    expect(takeNow(limiter, 'batchPlaceOrder', 0)).toBeUndefined()
    expect(takeNow(limiter, 'cancelAllOrders')).toBeDefined()
  })

  it('[LIM1] a token comes back a window after the exchange took the call, not after its answer', () => {
    const { limiter, time } = createHandLimiter()
    // An answer that came at once: the exchange is 500 ms ahead, for certain.
    takeNow(limiter, 'tickers')?.release({ requestTime: time.now() + 500, roundTripMs: 0 })
    const grant = takeNow(limiter, 'cancelAllOrders')
    time.advance(40)
    const takenByExchangeAt = time.now() + 500
    time.advance(200)
    grant?.release({ requestTime: takenByExchangeAt, roundTripMs: 240 })

    time.advance(1000 - 200)
    expect(takeNow(limiter, 'cancelAllOrders')).toBeUndefined()
    time.advance(5)
    expect(takeNow(limiter, 'cancelAllOrders')).toBeDefined()
  })

  it('[LIM1] without a time in the answer the window counts from the end of the call', () => {
    const { limiter, time } = createHandLimiter()
    const grant = takeNow(limiter, 'cancelAllOrders')
    time.advance(3000)
    expect(takeNow(limiter, 'cancelAllOrders')).toBeUndefined()
    grant?.release()
    time.advance(1000)
    expect(takeNow(limiter, 'cancelAllOrders')).toBeUndefined()
    time.advance(5)
    expect(takeNow(limiter, 'cancelAllOrders')).toBeDefined()
  })

  it('[LIM1] a time that cannot be true does not bring a token back early', () => {
    const { limiter, time } = createHandLimiter()
    takeNow(limiter, 'tickers')?.release({ requestTime: time.now(), roundTripMs: 0 })
    const grant = takeNow(limiter, 'cancelAllOrders')
    time.advance(100)
    grant?.release({ requestTime: time.now() - 3_600_000, roundTripMs: 100 })
    time.advance(999)
    expect(takeNow(limiter, 'cancelAllOrders')).toBeUndefined()
    time.advance(5)
    expect(takeNow(limiter, 'cancelAllOrders')).toBeDefined()
  })

  it('[LIM1] nothing is granted while the calls of the run before may still count', () => {
    const { limiter, time } = createHandLimiter({ previousRunEndedAt: 0 })
    let grantedAt = 0
    limiter.request('cancelAllOrders', 0, () => (grantedAt = time.monotonic()))
    expect(takeNow(limiter, 'tickers')).toBeUndefined()
    time.advance(1199)
    expect(grantedAt).toBe(0)
    time.advance(1)
    expect(grantedAt).toBe(1200)
    expect(takeNow(limiter, 'tickers')).toBeDefined()
  })

  it('[LIM1] the first minute after a restart leaves half of all calls to the run before', () => {
    const { limiter, time } = createHandLimiter({ previousRunEndedAt: 0, use: 0.01 })
    const granted = { firstMinute: 0, secondMinute: 0 }
    const spend = (minute: keyof typeof granted) => {
      for (let second = 0; second < 60; second++) {
        for (const endpoint of ['tickers', 'orderFills', 'singlePosition'] as const) {
          const grant = takeNow(limiter, endpoint, 0)
          if (grant) granted[minute]++
          grant?.release()
        }
        time.advance(1003)
      }
    }
    time.advance(1200)
    spend('firstMinute')
    time.advance(60_000)
    spend('secondMinute')
    expect(granted).toEqual({ firstMinute: 30, secondMinute: 60 })
  })

  it('a grant that was not used can be used at once, and ends only once', () => {
    const { limiter, time } = createHandLimiter()
    const grant = takeNow(limiter, 'cancelAllOrders')
    grant?.unused()
    grant?.release()
    const again = takeNow(limiter, 'cancelAllOrders')
    expect(again).toBeDefined()
    again?.release()
    again?.unused()
    expect(takeNow(limiter, 'cancelAllOrders')).toBeUndefined()
    time.advance(1010)
    expect(takeNow(limiter, 'cancelAllOrders')).toBeDefined()
    expect(takeNow(limiter, 'cancelAllOrders')).toBeUndefined()
  })

  it('[LIM1] all endpoints together stay within the limit of the address', () => {
    const { limiter, time } = createHandLimiter({ use: 0.01 })
    // 1 % of 6000 a minute is 60; 1 % of 20 a second is still one.
    let granted = 0
    for (let second = 0; second < 40; second++) {
      for (const endpoint of [
        'tickers',
        'orderFills',
        'singlePosition',
        'modifyPlanOrder',
      ] as const) {
        const grant = takeNow(limiter, endpoint, 0)
        if (grant !== undefined) granted++
        grant?.release()
      }
      time.advance(1003)
    }
    expect(granted).toBe(60)
    time.advance(60_000)
    expect(takeNow(limiter, 'tickers')).toBeDefined()
  })
})

describe('waiting', () => {
  it('[LIM2] what reduces risk goes before what adds it, and reads go last', () => {
    const { limiter, time } = createHandLimiter()
    const first = takeNow(limiter, 'cancelAllOrders')
    const served: string[] = []
    const wish = (name: string, priority: LimiterPriority) =>
      limiter.request('cancelAllOrders', priority, (grant) => {
        served.push(name)
        grant.release()
      })
    wish('read', 2)
    wish('adds', 1)
    wish('reduces', 0)
    wish('reduces too', 0)
    first?.release()

    time.advance(10_000)

    expect(served).toEqual(['reduces', 'reduces too', 'adds', 'read'])
  })

  it('[LIM2] nobody overtakes those who wait with the grant that is ready', () => {
    const { limiter, time } = createHandLimiter()
    const served: string[] = []
    const first = takeNow(limiter, 'cancelAllOrders')
    limiter.request('cancelAllOrders', 1, () => served.push('waits'))
    first?.release()
    time.advance(1003)
    limiter.request('cancelAllOrders', 2, () => served.push('came later'))
    expect(served).toEqual(['waits'])
  })

  it('turns away what would wait behind too many, and forgets who gave up', () => {
    const { limiter, time } = createHandLimiter()
    const first = takeNow(limiter, 'cancelAllOrders')
    const served: string[] = []
    const one = limiter.request('cancelAllOrders', 2, () => served.push('one'))
    limiter.request('cancelAllOrders', 2, () => served.push('two'))
    for (let more = 2; more < 256; more++) limiter.request('cancelAllOrders', 2, () => undefined)
    expect(limiter.request('cancelAllOrders', 0, () => served.push('three'))).toBeUndefined()
    one?.cancel()
    first?.release()
    time.advance(1003)
    expect(served).toEqual(['two'])
    expect(limiter.statistics()[1]).toMatchObject({ endpoint: 'cancelAllOrders', turnedAway: 1 })
  })

  it('[LIM2] the last call is kept for what reduces risk, for a tenth of a second', () => {
    const { limiter, time } = createHandLimiter()
    for (let call = 0; call < 4; call++)
      expect(takeNow(limiter, 'batchPlaceOrder', 1)).toBeDefined()
    let openedAt = 0
    limiter.request('batchPlaceOrder', 1, () => (openedAt = time.monotonic()))
    time.advance(99)
    expect(openedAt).toBe(0)
    time.advance(1)
    expect(openedAt).toBe(100)
  })

  it('[LIM2] what reduces risk takes the kept call at once, before those who wait', () => {
    const { limiter, time } = createHandLimiter()
    for (let call = 0; call < 4; call++)
      expect(takeNow(limiter, 'batchPlaceOrder', 1)).toBeDefined()
    let isOpened = false
    limiter.request('batchPlaceOrder', 1, () => (isOpened = true))
    expect(takeNow(limiter, 'batchPlaceOrder', 0)).toBeDefined()
    time.advance(500)
    expect(isOpened).toBe(false)
  })

  it('[LIM2] when all else has used up the address, what reduces risk has calls left', () => {
    const { limiter, time } = createHandLimiter()
    for (let second = 0; second < 40; second++) {
      for (const endpoint of endpointNames) {
        for (
          let grant = takeNow(limiter, endpoint, 1);
          grant;
          grant = takeNow(limiter, endpoint, 1)
        )
          grant.release()
      }
      time.advance(1002)
    }
    expect(takeNow(limiter, 'tickers', 2)).toBeUndefined()
    expect(takeNow(limiter, 'batchPlaceOrder', 1)).toBeUndefined()
    expect(takeNow(limiter, 'cancelAllOrders', 0)).toBeDefined()
    expect(takeNow(limiter, 'batchPlaceOrder', 0)).toBeDefined()
  })

  it('spreads reads over the minute where they would use up the address, each endpoint in its turn', () => {
    const { limiter, time } = createHandLimiter({ use: 0.1 })
    const endpoints = endpointNames.filter((name) => endpointNamed(name).limit.calls >= 10)
    const made = new Map(endpoints.map((name) => [name, 0]))
    const read = (endpoint: EndpointName): void => {
      limiter.request(endpoint, 2, (grant) => {
        made.set(endpoint, (made.get(endpoint) ?? 0) + 1)
        time.after(5, () => {
          grant.release()
          read(endpoint)
        })
      })
    }
    for (const endpoint of endpoints) read(endpoint)
    const all = () => [...made.values()].reduce((sum, each) => sum + each, 0)
    const eachSecond: number[] = []
    for (let second = 0; second < 180; second++) {
      const before = all()
      time.advance(1000)
      eachSecond.push(all() - before)
    }

    // Of 600 a minute, 2 % are kept for what reduces risk.
    expect(Math.min(...eachSecond.slice(0, 60))).toBeGreaterThanOrEqual(4)
    expect(Math.min(...eachSecond.slice(60))).toBeGreaterThanOrEqual(8)
    expect(all()).toBeGreaterThan(3 * 575)
    expect(Math.min(...made.values())).toBeGreaterThan(0.8 * Math.max(...made.values()))
  })

  it('holds up no reads of many at one moment while they use half of the address', () => {
    const { limiter, time } = createHandLimiter()
    const endpoints = endpointNames.filter((name) => endpointNamed(name).limit.calls >= 10)
    for (let second = 0; second < 120; second++) {
      for (let read = 0; read < 50; read++) {
        const grant = takeNow(limiter, endpoints[read % endpoints.length] ?? 'tickers')
        expect(grant).toBeDefined()
        grant?.release()
      }
      time.advance(1000 * (1 + 2e-3))
    }
  })

  it('serves those who wait when a grant comes back unused', () => {
    const { limiter } = createHandLimiter()
    const first = takeNow(limiter, 'cancelAllOrders')
    let isServed = false
    limiter.request('cancelAllOrders', 2, () => (isServed = true))
    first?.unused()
    expect(isServed).toBe(true)
  })
})

describe('two accounts on one address', () => {
  function openTwo() {
    const { limiter: alice, time } = createHandLimiter()
    return {
      alice,
      bob: createHandLimiter({ clock: time, timers: time, address: alice }).limiter,
      time,
    }
  }

  it('[LIM1] what counts per address is counted once, what counts per UID for each', () => {
    const { alice, bob } = openTwo()
    for (let call = 0; call < 10; call++) {
      for (const limiter of [alice, bob]) expect(takeNow(limiter, 'tickers')).toBeDefined()
    }
    for (const limiter of [alice, bob]) {
      expect(takeNow(limiter, 'tickers')).toBeUndefined()
      expect(takeNow(limiter, 'cancelAllOrders')).toBeDefined()
      expect(takeNow(limiter, 'cancelAllOrders')).toBeUndefined()
    }
  })

  it('[LIM1] the limit over all endpoints is one, and serves whoever is most urgent', () => {
    const { alice, bob, time } = openTwo()
    const spend = (limiter: Limiter, endpoint: EndpointName) => {
      for (let grant = takeNow(limiter, endpoint, 1); grant; grant = takeNow(limiter, endpoint, 1))
        grant.release()
    }
    for (let second = 0; second < 40; second++) {
      for (const endpoint of endpointNames) spend(alice, endpoint)
      time.advance(1002)
    }
    const served: string[] = []
    alice.request('tickers', 2, () => served.push('a read of alice'))
    bob.request('batchPlaceOrder', 1, () => served.push('an order of bob'))
    expect(served).toEqual([])

    time.advance(60_000)
    expect(served).toEqual(['an order of bob', 'a read of alice'])
  })

  it('serves what lies beyond the document after every read of the account', () => {
    const { limiter, time } = createHandLimiter({
      beyondDocument: true,
      beyondDocumentPrivate: true,
    })
    const spend = (endpoint: CallableName) => {
      for (let grant = takeNow(limiter, endpoint, 1); grant; grant = takeNow(limiter, endpoint, 1))
        grant.release()
    }
    for (let second = 0; second < 40; second++) {
      for (const endpoint of endpointNames) spend(endpoint)
      time.advance(1002)
    }
    const served: string[] = []
    limiter.request('historyCandles', PRIORITY.background, () => served.push('candles'))
    limiter.request('tickers', PRIORITY.reads, () => served.push('tickers'))
    limiter.request('batchPlaceOrder', PRIORITY.addsRisk, () => served.push('order'))
    expect(served).toEqual([])

    time.advance(60_000)
    expect(served).toEqual(['order', 'tickers', 'candles'])
    expect(limiter.statistics().map(({ endpoint }) => endpoint)).toEqual(callableNames)
  })

  it('one that stops leaves the address to the other', async () => {
    const { alice, bob } = openTwo()
    await bob.stop()

    expect(takeNow(alice, 'tickers')).toBeDefined()
    expect(alice.statistics().map(({ endpoint }) => endpoint)).toEqual(endpointNames)
  })
})

describe('after a 429', () => {
  /** The exchange refuses a call of the endpoint, of any urgency; a window later the token is there again. */
  const strike = (limiter: Limiter, endpoint: EndpointName): void =>
    takeNow(limiter, endpoint, 0)?.release({ isRateLimited: true })
  const waitsFor = (wish: { limiter: Limiter; time: HandTime; priority: LimiterPriority }): number => {
    const { limiter, time, priority } = wish
    const from = time.monotonic()
    for (; time.monotonic() - from < 60_000; time.advance(10)) {
      const grant = takeNow(limiter, 'batchPlaceOrder', priority)
      grant?.unused()
      if (grant) break
    }
    return time.monotonic() - from
  }

  it('[LIM3] the endpoint rests for a window and a back-off that grows, and forgives', () => {
    const { limiter, time } = createHandLimiter()
    const rests: number[] = []
    for (let count = 0; count < 4; count++) {
      strike(limiter, 'batchPlaceOrder')
      rests.push(waitsFor({ limiter, time, priority: 1 }))
    }
    expect(rests).toEqual([1250, 1500, 2000, 3000])
    time.advance(60_000)
    strike(limiter, 'batchPlaceOrder')
    expect(waitsFor({ limiter, time, priority: 1 })).toBe(1250)
  })

  it('[LIM3] it never rests for longer than half a minute and a window', () => {
    const { limiter, time } = createHandLimiter()
    const rests: number[] = []
    for (let count = 0; count < 12; count++) {
      strike(limiter, 'batchPlaceOrder')
      rests.push(waitsFor({ limiter, time, priority: 1 }))
    }
    expect(rests.slice(0, 6)).toEqual([1250, 1500, 2000, 3000, 5000, 9000])
    expect(Math.max(...rests)).toBe(31_000)
  })

  it('[LIM3] calls that were refused together count once', () => {
    const { limiter, time } = createHandLimiter()
    const grants = Array.from({ length: 5 }, () => takeNow(limiter, 'batchPlaceOrder', 0))
    time.advance(10)
    for (const grant of grants) grant?.release({ isRateLimited: true })
    expect(waitsFor({ limiter, time, priority: 1 })).toBe(1250)
  })

  it('[LIM3] it rests no longer than the first time where calls were served since', () => {
    const { limiter, time } = createHandLimiter()
    const rests: number[] = []
    for (let count = 0; count < 8; count++) {
      strike(limiter, 'batchPlaceOrder')
      rests.push(waitsFor({ limiter, time, priority: 1 }))
      takeNow(limiter, 'batchPlaceOrder')?.release({ requestTime: time.now(), roundTripMs: 0 })
    }
    expect(rests).toEqual(Array.from({ length: 8 }, () => 1250))
  })

  it('[LIM3] a call that had left before forgives nothing', () => {
    const { limiter, time } = createHandLimiter()
    const early = takeNow(limiter, 'batchPlaceOrder')
    time.advance(10)
    strike(limiter, 'batchPlaceOrder')
    early?.release({ requestTime: time.now(), roundTripMs: 10 })
    waitsFor({ limiter, time, priority: 1 })
    strike(limiter, 'batchPlaceOrder')
    expect(waitsFor({ limiter, time, priority: 1 })).toBe(1500)
  })

  it('[LIM2] what reduces risk rests for a window and the first back-off, however often it was refused', () => {
    const { limiter, time } = createHandLimiter()
    const rests: number[] = []
    for (let count = 0; count < 6; count++) {
      strike(limiter, 'batchPlaceOrder')
      rests.push(waitsFor({ limiter, time, priority: 0 }))
    }
    expect(rests).toEqual([1250, 1250, 1250, 1250, 1250, 1250])
  })

  it('[LIM3] those who wait are served afterwards; other endpoints are not touched', () => {
    const { limiter, time } = createHandLimiter()
    strike(limiter, 'batchPlaceOrder')
    let isServed = false
    limiter.request('batchPlaceOrder', 1, () => (isServed = true))
    expect(takeNow(limiter, 'tickers')).toBeDefined()
    time.advance(1249)
    expect(isServed).toBe(false)
    time.advance(5)
    expect(isServed).toBe(true)
  })

  it('[LIM3] refused on two endpoints in a row, all reads rest, and what trades goes on', () => {
    const rests: number[] = []
    const { limiter, time } = createHandLimiter({ onCoolDown: (restMs) => rests.push(restMs) })
    strike(limiter, 'tickers')
    strike(limiter, 'orderFills')
    time.advance(1500)
    expect(rests).toEqual([2000])
    expect(takeNow(limiter, 'singlePosition')).toBeUndefined()
    expect(takeNow(limiter, 'cancelAllOrders', 0)).toBeDefined()
    expect(takeNow(limiter, 'batchPlaceOrder', 1)).toBeDefined()

    let isRead = false
    limiter.request('singlePosition', 2, () => (isRead = true))
    time.advance(499)
    expect(isRead).toBe(false)
    time.advance(1)
    expect(isRead).toBe(true)
  })

  it('[LIM3] reads rest longer each time, up to five minutes, and a served call in between clears it', () => {
    const rests: number[] = []
    const { limiter, time } = createHandLimiter({ onCoolDown: (restMs) => rests.push(restMs) })
    for (let count = 0; count < 10; count++) {
      strike(limiter, 'tickers')
      strike(limiter, 'orderFills')
      time.advance((rests.at(-1) ?? 0) + 1000)
    }
    expect(rests.slice(0, 4)).toEqual([2000, 4000, 8000, 16_000])
    expect(rests.slice(-2)).toEqual([300_000, 300_000])

    strike(limiter, 'tickers')
    takeNow(limiter, 'singlePosition')?.release({ requestTime: time.now(), roundTripMs: 0 })
    strike(limiter, 'orderFills')
    expect(rests).toHaveLength(10)
  })

  it('[LIM3] reads rest no longer than the first time where calls were served since', () => {
    const rests: number[] = []
    const { limiter, time } = createHandLimiter({ onCoolDown: (restMs) => rests.push(restMs) })
    for (let count = 0; count < 4; count++) {
      strike(limiter, 'tickers')
      strike(limiter, 'orderFills')
      time.advance(3000)
      takeNow(limiter, 'singlePosition')?.release({ requestTime: time.now(), roundTripMs: 0 })
      time.advance(1000)
    }

    expect(rests).toEqual([2000, 2000, 2000, 2000])
  })
})

describe('statistics', () => {
  it('says what was granted, made, waited for and used', () => {
    const { limiter, time } = createHandLimiter()
    for (let call = 0; call < 10; call++) {
      limiter.request('batchPlaceOrder', 0, (grant) => grant.release({ isRateLimited: call === 9 }))
    }
    time.advance(2004)
    const [batch] = limiter.statistics()
    expect(batch).toMatchObject({ endpoint: 'batchPlaceOrder', calls: 5, perMs: 1000 })
    expect(batch).toMatchObject({ granted: 10, made: 10, rateLimited: 1, windowMax: 5 })
    expect(batch?.answerTimes).toMatchObject({ count: 0, sumMs: 0 })
    expect(batch?.waitedMsP50).toBeCloseTo(0)
    expect(batch?.waitedMsP99).toBeCloseTo(1001, -1)
    expect(batch?.usedShare).toBeCloseTo(10 / (2.004 * 5), 3)
  })

  it('counts how long calls took, answered or given up, in buckets that add up', () => {
    const { limiter } = createHandLimiter()
    for (const roundTripMs of [4, 90, 2400, 12_000])
      limiter.request('tickers', 2, (grant) => grant.release({ roundTripMs }))
    limiter.request('tickers', 2, (grant) => grant.unused())
    const { answerTimes } =
      limiter.statistics().find(({ endpoint }) => endpoint === 'tickers') ?? {}

    expect(answerTimes).toMatchObject({ count: 4, sumMs: 14_494 })
    expect(
      answerTimes?.buckets.filter(([upToMs]) => [5, 100, 1000, 2500, 10_000].includes(upToMs)),
    ).toEqual([
      [5, 1],
      [100, 2],
      [1000, 2],
      [2500, 3],
      [10_000, 3],
    ])
  })
})

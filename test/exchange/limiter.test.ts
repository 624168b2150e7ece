import { describe, expect, it } from 'vitest'
import { ClockOffset } from '../../src/exchange/clock-offset.ts'
import { type Grant, type Priority } from '../../src/exchange/grant.ts'
import { Limiter } from '../../src/exchange/limiter.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { createRandom, type Random } from '../../src/lib/random.ts'
import { systemTimers } from '../../src/lib/timers.ts'
import { endpointNamed, type EndpointName } from '../../src/protocol/endpoints.ts'
import { createHandLimiter, ExactCounters, type HandTime } from './limiter-fixture.ts'

function takeNow(limiter: Limiter, endpoint: EndpointName, priority: Priority = 2): Grant | undefined {
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
      for (let call = 0; call < calls; call++) expect(takeNow(limiter, endpoint)).toBeDefined()
      expect(takeNow(limiter, endpoint)).toBeUndefined()
    }
  })

  it('[LIM1] a copy-trading trader has the lower limit, where the document has one', () => {
    const { limiter } = createHandLimiter({ tier: 'copyTrader' })
    expect(takeNow(limiter, 'batchPlaceOrder')).toBeDefined()
    expect(takeNow(limiter, 'batchPlaceOrder')).toBeUndefined()
    for (let call = 0; call < 10; call++) expect(takeNow(limiter, 'orderFills')).toBeDefined()
  })

  it('[LIM1] leaves room for others when told to, and keeps one call', () => {
    const { limiter } = createHandLimiter({ use: 0.5 })
    for (let call = 0; call < 2; call++) expect(takeNow(limiter, 'batchPlaceOrder')).toBeDefined()
    expect(takeNow(limiter, 'batchPlaceOrder')).toBeUndefined()
    expect(takeNow(limiter, 'cancelAllOrders')).toBeDefined()
  })

  it('[LIM1] a token comes back a window after the exchange took the call, not after we sent it', () => {
    const { limiter, offset, time } = createHandLimiter()
    offset.observe({ requestTime: time.now() + 500, sentAt: time.now(), receivedAt: time.now() })
    const grant = takeNow(limiter, 'cancelAllOrders')
    time.advance(40)
    const takenByExchangeAt = time.now() + 500
    time.advance(200)
    grant?.release({ requestTime: takenByExchangeAt })

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
    const { limiter, offset, time } = createHandLimiter()
    offset.observe({ requestTime: time.now(), sentAt: time.now(), receivedAt: time.now() })
    const grant = takeNow(limiter, 'cancelAllOrders')
    time.advance(10)
    grant?.release({ requestTime: time.now() - 3_600_000 })
    time.advance(990)
    expect(takeNow(limiter, 'cancelAllOrders')).toBeUndefined()
    time.advance(5)
    expect(takeNow(limiter, 'cancelAllOrders')).toBeDefined()
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
      for (const endpoint of ['tickers', 'orderFills', 'singlePosition', 'modifyPlanOrder'] as const) {
        const grant = takeNow(limiter, endpoint)
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
    const wish = (name: string, priority: Priority) =>
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
    const { limiter, time } = createHandLimiter({ waitingMax: 2 })
    const first = takeNow(limiter, 'cancelAllOrders')
    const served: string[] = []
    const one = limiter.request('cancelAllOrders', 2, () => served.push('one'))
    limiter.request('cancelAllOrders', 2, () => served.push('two'))
    expect(limiter.request('cancelAllOrders', 0, () => served.push('three'))).toBeUndefined()
    one?.cancel()
    first?.release()
    time.advance(1003)
    expect(served).toEqual(['two'])
    expect(limiter.statistics()[1]).toMatchObject({ endpoint: 'cancelAllOrders', turnedAway: 1 })
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

describe('after a 429', () => {
  const restsFor = (limiter: Limiter, time: HandTime): number => {
    for (let ms = 0; ms < 60_000; ms += 10) {
      if (limiter.ready('batchPlaceOrder') > 0) return ms
      time.advance(10)
    }
    return Number.POSITIVE_INFINITY
  }

  it('[LIM3] the endpoint rests for a window and a back-off that grows, and forgives', () => {
    const { limiter, time } = createHandLimiter()
    const rests: number[] = []
    for (let strike = 0; strike < 4; strike++) {
      limiter.penalise('batchPlaceOrder')
      rests.push(restsFor(limiter, time))
    }
    expect(rests).toEqual([1250, 1500, 2000, 3000])
    time.advance(60_000)
    limiter.penalise('batchPlaceOrder')
    expect(restsFor(limiter, time)).toBe(1250)
  })

  it('[LIM3] it never rests for longer than half a minute and a window', () => {
    const { limiter, time } = createHandLimiter()
    for (let strike = 0; strike < 30; strike++) limiter.penalise('batchPlaceOrder')
    expect(restsFor(limiter, time)).toBe(31_000)
  })

  it('[LIM3] those who wait are served afterwards; other endpoints are not touched', () => {
    const { limiter, time } = createHandLimiter()
    limiter.penalise('batchPlaceOrder')
    let isServed = false
    limiter.request('batchPlaceOrder', 1, () => (isServed = true))
    expect(takeNow(limiter, 'tickers')).toBeDefined()
    time.advance(1249)
    expect(isServed).toBe(false)
    time.advance(5)
    expect(isServed).toBe(true)
  })
})

describe('statistics', () => {
  it('says what was granted, made, waited for and used', () => {
    const { limiter, time } = createHandLimiter()
    for (let call = 0; call < 10; call++) {
      limiter.request('batchPlaceOrder', 1, (grant) => grant.release())
    }
    time.advance(2004)
    limiter.penalise('batchPlaceOrder')
    const [batch] = limiter.statistics()
    expect(batch).toMatchObject({ endpoint: 'batchPlaceOrder', calls: 5, perMs: 1000 })
    expect(batch).toMatchObject({ granted: 10, made: 10, rateLimited: 1, windowMax: 5 })
    expect(batch).toMatchObject({ waitedMsP50: 1002, waitedMsP99: 1002 })
    expect(batch?.usedShare).toBeCloseTo(10 / (2.004 * 5), 3)
  })
})

/** One way of a call over a network with jitter, in ms. */
const wayMs = (random: Random) => 5 + 20 * random.next()

/** Keeps an endpoint as busy as the limiter lets it, under time moved by hand. */
function saturate(endpoint: EndpointName, seed: string, seconds: number) {
  const { limiter, offset, time } = createHandLimiter()
  const random = createRandom(seed)
  const { calls, perMs } = endpointNamed(endpoint).limit
  const aheadMs = 3000 * (random.next() - 0.5)
  const arrivals: number[] = []
  const ask = () => {
    limiter.request(endpoint, 1, (grant) => {
      const sentAt = time.now()
      time.after(wayMs(random), () => {
        arrivals.push(time.monotonic())
        const requestTime = Math.floor(time.epochMs + time.monotonic() + aheadMs)
        time.after(wayMs(random), () => {
          const isLost = random.next() < 0.02
          const isTimeless = random.next() < 0.05
          if (!isLost && !isTimeless) offset.observe({ requestTime, sentAt, receivedAt: time.now() })
          grant.release({ requestTime: isLost || isTimeless ? undefined : requestTime })
        })
      })
      ask()
    })
  }
  ask()
  time.advance(seconds * 1000)
  const counters = new ExactCounters(calls, perMs)
  for (const at of arrivals.sort((one, other) => one - other)) counters.count(at + aheadMs + 1_000_000)
  return { counters, used: arrivals.length / (seconds * calls) }
}

describe('against an exact model of the exchange', () => {
  it('[LIM1] no counting ever sees a call too many, at any rate and clock offset', () => {
    const endpoints = ['cancelAllOrders', 'batchPlaceOrder', 'orderFills', 'tickers'] as const
    for (const endpoint of endpoints) {
      for (let seed = 0; seed < 10; seed++) {
        const { counters } = saturate(endpoint, `${endpoint} ${seed}`, 30)
        expect(counters.rejected, `${endpoint}, seed ${seed}`).toEqual({ sliding: 0, fixed: 0, bucket: 0 })
      }
    }
  })

  it('[LIM1] in real time, through Bottleneck, nobody is turned away', async () => {
    const offset = new ClockOffset()
    const limiter = new Limiter({ clock: systemClock, timers: systemTimers, offset })
    const random = createRandom('real time')
    const endpoints = ['cancelAllOrders', 'batchPlaceOrder', 'orderFills', 'tickers'] as const
    const arrivals = new Map<EndpointName, number[]>(endpoints.map((endpoint) => [endpoint, []]))
    const timers = new Set<() => void>()
    const later = (ms: number, callback: () => void) => {
      const cancel = systemTimers.after(ms, () => {
        timers.delete(cancel)
        callback()
      })
      timers.add(cancel)
    }
    const ask = (endpoint: EndpointName) => {
      limiter.request(endpoint, 1, (grant) => {
        const sentAt = systemClock.now()
        later(wayMs(random), () => {
          const requestTime = systemClock.now()
          arrivals.get(endpoint)?.push(systemClock.monotonic())
          later(wayMs(random), () => {
            offset.observe({ requestTime, sentAt, receivedAt: systemClock.now() })
            grant.release({ requestTime })
          })
        })
        ask(endpoint)
      })
    }
    for (const endpoint of endpoints) ask(endpoint)
    await new Promise<void>((resolve) => {
      systemTimers.after(2500, resolve)
    })
    await limiter.stop()
    for (const cancel of timers) cancel()

    for (const endpoint of endpoints) {
      const { calls, perMs } = endpointNamed(endpoint).limit
      const counters = new ExactCounters(calls, perMs)
      const times = arrivals.get(endpoint) ?? []
      for (const at of times) counters.count(at)
      expect(counters.rejected, endpoint).toEqual({ sliding: 0, fixed: 0, bucket: 0 })
      expect(times.length, endpoint).toBeGreaterThan(calls)
    }
  })

  it('has a grant ready before it is asked for', async () => {
    const limiter = new Limiter({ clock: systemClock, timers: systemTimers, offset: new ClockOffset() })
    await new Promise<void>((resolve) => {
      systemTimers.after(50, resolve)
    })
    expect(takeNow(limiter, 'batchPlaceOrder')).toBeDefined()
    await limiter.stop()
    expect(limiter.request('batchPlaceOrder', 0, () => {})).toBeDefined()
    expect(takeNow(limiter, 'tickers')).toBeUndefined()
  })
})
